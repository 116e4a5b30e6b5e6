"""test_site.py SOURCE-DIR: tools/site makes the site, without warnings; no link in it leads nowhere, and
every public function is in it."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

USED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "src", "bench", "include", "tools")


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def read(path):
    links = Links()
    links.feed(path.read_text(errors="replace"))
    return links


def dangling(site):
    pages = {path.name: read(path) for path in site.glob("*.html")}
    for name, page in pages.items():
        for target in page.targets:
            if re.match(r"[a-z]+:", target) or target.startswith("//"):
                continue
            file, _, place = urllib.parse.unquote(target).partition("#")
            file = file.partition("?")[0] or name
            if not (site / file).exists():
                yield f"{name}: {target}"
            elif place and file in pages and place not in pages[file].names:
                yield f"{name}: {target}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name in USED:
            if (source / name).is_dir():
                shutil.copytree(source / name, root / name, symlinks=True)
            else:
                shutil.copy(source / name, root / name)
        subprocess.run([root / "tools" / "site"], check=True)
        site = root / "build" / "site"
        lost = sorted(set(dangling(site)))
        text = "".join(path.read_text(errors="replace") for path in site.glob("*_8h.html"))
        missing = []
        for path in (source / "include" / "rigor").glob("*.h"):
            plain = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            missing += [name for name in re.findall(r"^(?!typedef)[a-z][\w ]*[ *](rg_\w+)\(", plain, re.M)
                        if f">{name}</a>" not in text]
    for problem in lost:
        print(f"leads nowhere: {problem}")
    for name in missing:
        print(f"not in the reference: {name}")
    return bool(lost or missing)


sys.exit(main())
