"""make_declarations.py COMPILER INCLUDE-DIR NATIVE-HEADER OUTPUT: the C headers as a Python module.

Runs the preprocessor of a C compiler over the public headers, reads what is declared in them (structs,
enums, function types, functions) and writes it for ctypes: no declaration of the package is by hand, so
none can differ from its header. The headers are plain: one declarator a field or several, no bit fields,
no unions. Whatever does not fit that is an error, with its text, rather than left out.

Pointers are addresses (c_void_p), strings c_char_p; structs go by value, as in C. Inline functions have no
symbol to call and are listed in INLINE."""

import keyword
import pathlib
import re
import subprocess
import sys

NUMBERS = {
    "double": "c_double", "float": "c_float", "int": "c_int", "unsigned": "c_uint", "bool": "c_bool",
    "_Bool": "c_bool", "size_t": "c_size_t", "uint64_t": "c_uint64", "uint32_t": "c_uint32",
    "uint16_t": "c_uint16", "uint8_t": "c_uint8", "int64_t": "c_int64", "char": "c_char",
    "unsigned char": "c_ubyte",
}


def preprocess(compiler, include, headers):
    """The lines of our own headers after preprocessing, and their comments gone."""
    source = "".join(f'#include "{header}"\n' for header in headers)
    done = subprocess.run([compiler, "-std=c17", "-E", "-I", str(include), "-x", "c", "-"], input=source,
                          text=True, capture_output=True, check=True)
    ours, lines = False, []
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = pathlib.Path(marker[1]).is_relative_to(include) or marker[1] in headers
        elif ours:
            lines.append(line)
    return "\n".join(lines)


def constants(include, headers):
    """Numbers and strings that are macros."""
    for header in headers:
        path = pathlib.Path(header) if pathlib.Path(header).is_absolute() else include / header
        for name, value in re.findall(r"^#define (RG_\w+) +(.+?)(?: *//.*| */\*.*)?$", path.read_text(), re.M):
            if re.fullmatch(r'"[^"]*"|[-+.\deE]+', value):
                yield name, value
            elif value == "UINT32_MAX":
                yield name, str(2**32 - 1)


def matching(text, start):
    """Behind the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError(f"no closing brace: {text[start:start + 80]}")


def declarations(text):
    """Top-level declarations, each one text; bodies of inline functions are cut off."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", re.sub(r"\s+", " ", text))
    place = 0
    while True:
        rest = re.compile(r"[;{]").search(text, place)
        if not rest:
            return
        if rest[0] == ";":
            yield text[place:rest.start()].strip()
            place = rest.end()
            continue
        end = matching(text, rest.start())
        head = text[place:rest.start()].strip()
        if "(" in head:  # an inline function
            yield head
            place = end
            continue
        stop = text.index(";", end)
        yield text[place:stop].strip()
        place = stop + 1


class Headers:
    """What the headers declare."""

    def __init__(self, text):
        self.structs, self.enums, self.callbacks, self.functions = {}, {}, {}, {}
        self.aliases, self.inline, self.values, self.opaque = {}, [], {}, []
        for declaration in declarations(text):
            self.read(declaration)

    def read(self, text):
        enum = re.match(r"(?:typedef )?enum (?:\w+ )?\{(.*)\} ?(\w*)$", text)
        struct = re.match(r"(?:typedef )?struct (\w+) \{(.*)\} ?(\w*)$", text)
        if enum:
            self.read_enum(enum[2], enum[1])
        elif struct:
            self.structs[struct[1]] = [field for part in struct[2].split(";") if part.strip()
                                       for field in self.fields(part.strip())]
        elif re.fullmatch(r"typedef struct (\w+) \1", text):
            self.opaque.append(text.split()[-1])
        elif text.startswith("typedef"):
            name, result, parameters = self.prototype(text.removeprefix("typedef ").strip())
            self.callbacks[name] = (result, parameters)
        elif text.startswith("static inline"):
            self.inline.append(self.prototype(text.removeprefix("static inline "))[0])
        elif text:
            name, result, parameters = self.prototype(text)
            self.functions[name] = (result, parameters)

    def read_enum(self, name, body):
        last, members = -1, []
        for part in filter(None, (part.strip() for part in body.split(","))):
            key, _, value = part.partition("=")
            last = self.number(value) if value.strip() else last + 1
            self.values[key.strip()] = last
            members.append((key.strip(), last))
        if name:
            self.enums[name] = members

    def number(self, text):
        text = re.sub(r"(?<=\d)[uUlL]+", "", text)
        return eval(text, {"__builtins__": {}}, dict(self.values))  # a constant expression of ours

    def type_of(self, text):
        """A type of ctypes, for a type of C; None is void."""
        text = re.sub(r"\b(const|struct|enum)\b", "", text).strip()
        text = re.sub(r" *\* *", "*", re.sub(r" +", " ", text))
        if text == "char*":
            return "c_char_p"
        if text.endswith("*"):
            return "c_void_p"
        if text in NUMBERS:
            return NUMBERS[text]
        if text in self.enums:
            return "c_uint" if all(value >= 0 for _, value in self.enums[text]) else "c_int"
        if text in self.structs:
            return text
        if text in self.callbacks:
            return "c_void_p"
        if text == "void":
            return "None"
        raise ValueError(f"type {text!r} is not understood")

    def fields(self, text):
        function = re.match(r".*\(\*(\w+)\)\(.*\)$", text)
        if function:
            return [(function[1], "c_void_p", ())]
        base = re.match(r"((?:const |struct |unsigned (?=char))*\w+) (.*)$", text)
        found = []
        for declarator in base[2].split(","):
            match = re.fullmatch(r"((?:\* ?(?:const ?)?)*)(\w+)((?:\[[^]]*\])*)", declarator.strip())
            sizes = tuple(self.number(size) for size in re.findall(r"\[([^]]*)\]", match[3]))
            found.append((match[2], self.type_of(f"{base[1]} {match[1]}"), sizes))
        return found

    def prototype(self, text):
        match = re.fullmatch(r"(.*?)(\w+) ?\((.*)\)", text)
        if not match or "(" in match[3].replace("(*", ""):
            raise ValueError(f"not understood: {text}")
        parameters = []
        for parameter in [] if match[3].strip() in ("void", "") else match[3].split(","):
            parts = re.fullmatch(r"(.*?)(\w+)((?:\[[^]]*\])?)", parameter.strip())
            parameters.append((parts[2], "c_void_p" if parts[3] else self.type_of(parts[1])))
        return match[2], self.type_of(match[1]), parameters


def comments(include, headers):
    """The comment before each declaration of a function, as its docstring; of the line if it has one."""
    found = {}
    for header in headers:
        path = pathlib.Path(header) if pathlib.Path(header).is_absolute() else include / header
        text = path.read_text()
        for match in re.finditer(r"/\*((?:(?!\*/).)*?)\*/\n(?=[^\n]*?(rg_\w+)\()", text, re.S):
            found[match[2]] = match[1]
        for match in re.finditer(r"^[^\n]*?(rg_\w+)\([^;]*\); */\* *(.*?)\*/", text, re.S | re.M):
            if "\n\n" not in match[0]:
                found[match[1]] = match[2]
    return {name: re.sub(r"\s*\n \* ?|\s+", " ", text).strip() for name, text in found.items()}


# What the structs have in common.
STRUCT = '''

class Struct(Structure):
    """A struct of C; its fields are those of the header."""

    def as_dict(self):
        """The fields by name; structs in it are such dicts, arrays lists."""
        def plain(value):
            if isinstance(value, Struct):
                return value.as_dict()
            return [plain(entry) for entry in value] if isinstance(value, Array) else value
        return {field[0]: plain(getattr(self, field[0])) for field in self._fields_}

    def __reduce__(self):
        try:
            return super().__reduce__()
        except ValueError:  # ctypes: it has pointers
            raise TypeError(f"{type(self).__name__} holds addresses of memory, which mean nothing in a copy of "
                            "it: take what is needed from its fields or as_dict()") from None

    def __repr__(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({fields})"
'''


def hint(kind, sizes):
    """The type that Python sees in a field."""
    if sizes:
        return "bytes" if kind == "c_char" else '"Array"'
    if kind in ("c_double", "c_float"):
        return "float"
    if kind in ("c_void_p", "c_char_p"):
        return f'"{"int" if kind == "c_void_p" else "bytes"} | None"'
    return {"c_bool": "bool"}.get(kind, "int" if kind.startswith("c_") else kind)


def write(headers, notes, macros):
    out = ['"""Made from the C headers by make_declarations.py: do not edit."""', "",
           "import enum", "from ctypes import *  # noqa: F403", "", STRUCT]
    for name, value in macros:
        out.append(f"{name} = {value}")
    for name, value in headers.values.items():
        out.append(f"{name} = {value}")
    for name, members in headers.enums.items():
        out += ["", "", f"class {name}(enum.IntEnum):"]
        out += [f"    {key} = {value}" for key, value in members]
    for name, fields in headers.structs.items():
        out += ["", "", f"class {name}(Struct):"]
        out += [f"    {field}: {hint(kind, sizes)}" for field, kind, sizes in fields
                if not keyword.iskeyword(field)]
        out.append("    _fields_ = [")
        for field, kind, sizes in fields:
            for size in reversed(sizes):
                kind = f"{kind} * {size}" if "*" not in kind else f"({kind}) * {size}"
            out.append(f'        ("{field}", {kind}),')
        out.append("    ]")
    out += ["", "", "# Functions that programs give to the library."]
    for name, (result, parameters) in headers.callbacks.items():
        kinds = ", ".join([result] + [kind for _, kind in parameters])
        out.append(f"{name} = CFUNCTYPE({kinds})")
    out += ["", "# name: (result, parameters, names of the parameters, what the header says)", "FUNCTIONS = {"]
    for name, (result, parameters) in sorted(headers.functions.items()):
        kinds = ", ".join(kind for _, kind in parameters)
        names = ", ".join(repr(key) for key, _ in parameters)
        comma = "," if len(parameters) == 1 else ""
        out.append(f'    "{name}": ({result}, ({kinds}{comma}), ({names}{comma}), {notes.get(name, "")!r}),')
    out += ["}", f"INLINE = {sorted(headers.inline)!r}",
            "STRUCTS = [" + ", ".join(sorted(headers.structs)) + "]", ""]
    return "\n".join(out)


def main(compiler, include, native, output):
    include = pathlib.Path(include).resolve()
    # viewer.h: of rigor-view, which the package does not hold; rigor.view starts the command.
    headers = sorted(f"rigor/{path.name}" for path in (include / "rigor").glob("*.h") if path.name != "viewer.h")
    if native != "-":
        headers.append(str(pathlib.Path(native).resolve()))
    found = Headers(preprocess(compiler, include, headers))
    text = write(found, comments(include, headers), constants(include, headers))
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:5])
