/* Nothing of a robot description is dropped in silence: every attribute and element that a format's
 * table calls read changes the scene or is named; every one that it calls silent is of a list with
 * its reason, and changes nothing; all others are refused, and listed by lenient reading. The
 * tables are those of the reader: a word that is added there without a line here fails. */
#include "test_scene_support.h"

#include "scene/scene_robot.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_SIZE = 20000 };

/* ---- documents ---- */

/* Of an element of the table: a piece of the format's document, and what takes its place. */
typedef struct row {
    const char *element, *word, *from, *to;
} row;

typedef struct format {
    const rg_robot_vocabulary *vocabulary;
    const char *document;
    const row *rows;
    size_t row_count;
    const char *silent[12]; /* of one reason each */
} format;

typedef struct reading {
    rg_status status;
    rg_error error;
    char *text; /* of the scene */
    size_t left_out;
} reading;

static reading read_as(const char *text, bool lenient) {
    rg_scene_parameter key = {"key", "k"};
    bool mjcf = strncmp(text, "<mujoco", 7) == 0;
    rg_scene_options options = {.lenient = lenient, .parameters = &key, .parameter_count = mjcf};
    reading r = {.status = RG_OK};
    rg_scene *scene = NULL;
    size_t size;
    r.status = rg_scene_read_text(text, strlen(text), "t", GOOD_SCENES, &options, &scene, &r.error);
    if (r.status != RG_OK)
        return r;
    r.left_out = rg_scene_left_out_count(scene);
    assert_int_equal(rg_scene_write_text(scene, NULL, &r.text, &size, &r.error), RG_OK);
    rg_scene_destroy(scene);
    return r;
}

static void replace(const char *text, const char *from, const char *to, char result[TEXT_SIZE]) {
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("there is no %s in the document", from);
    snprintf(result, TEXT_SIZE, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static bool has_word(const char *words, const char *word, size_t length) {
    for (const char *at = words; at && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* The next of some words; false behind the last. */
static bool next_word(const char **words, char word[64]) {
    if (!*words)
        return false;
    *words += strspn(*words, " ");
    size_t length = strcspn(*words, " ");
    snprintf(word, 64, "%.*s", (int)length, *words);
    *words += length;
    return length > 0;
}

/* ---- what is read ---- */

static void show_row(const format *f, const reading *plain, const row *r) {
    char text[TEXT_SIZE];
    replace(f->document, r->from, r->to, text);
    reading one = read_as(text, true);
    if (one.status == RG_OK && one.left_out == plain->left_out &&
        strcmp(one.text, plain->text) == 0)
        fail_msg("%s %s: %s is dropped in silence", r->element, r->word, r->to);
    if (one.status == RG_SYNTAX)
        fail_msg("%s %s: %s", r->element, r->word, one.error.text);
    free(one.text);
}

/* Every word that is called read has a line. */
static void find_row(const format *f, const rg_robot_words *w, const char *word) {
    for (size_t i = 0; i < f->row_count; i++)
        if (has_word(w->element, f->rows[i].element, strlen(f->rows[i].element)) &&
            strcmp(f->rows[i].word, word) == 0)
            return;
    fail_msg("%s %s: no line shows that it is read", w->element, word);
}

static bool is_element(const format *f, const char *word) {
    for (size_t i = 0; i < f->vocabulary->count; i++) {
        char path[80];
        const char *elements = f->vocabulary->table[i].element, *at = elements;
        while (next_word(&at, path)) {
            const char *slash = strchr(path, '/');
            if (strcmp(slash ? slash + 1 : path, word) == 0)
                return true;
        }
    }
    return false;
}

static void all_is_read(const format *f) {
    char word[64];
    reading plain = read_as(f->document, true);
    if (plain.status != RG_OK)
        fail_msg("%s", plain.error.text);
    assert_int_equal(plain.left_out, 0);
    for (size_t i = 0; i < f->row_count; i++)
        show_row(f, &plain, &f->rows[i]);
    for (size_t i = 0; i < f->vocabulary->count; i++) {
        const rg_robot_words *w = &f->vocabulary->table[i];
        for (const char *at = w->attributes; next_word(&at, word);)
            find_row(f, w, word);
        for (const char *at = w->children; next_word(&at, word);)
            if (!is_element(f, word))
                find_row(f, w, word);
    }
    free(plain.text);
}

/* ---- what is not ---- */

/* The place behind a tag in a text, up to its end; or null. */
static const char *find_tag(const char *text, const char *name, const char *end) {
    char tag[80];
    snprintf(tag, sizeof tag, "<%s", name);
    for (const char *at = text; (at = strstr(at, tag)) && (!end || at < end); at++)
        if (strchr(" >/", at[strlen(tag)]))
            return at + strlen(tag);
    return NULL;
}

/* Where the document has the first element of these words: behind its name, or null. */
static const char *find_element(const format *f, const rg_robot_words *w) {
    char path[64], close[80];
    const char *elements = w->element, *found = NULL;
    if (!next_word(&elements, path))
        return NULL;
    char *slash = strchr(path, '/');
    if (!slash)
        return find_tag(f->document, path, NULL);
    *slash = 0;
    snprintf(close, sizeof close, "</%s>", path);
    for (const char *at = f->document; !found && (at = find_tag(at, path, NULL));)
        if (at[strcspn(at, ">") - 1] != '/')
            found = find_tag(at, slash + 1, strstr(at, close));
    return found;
}

static void insert(const format *f, const char *at, const char *what, char text[TEXT_SIZE]) {
    snprintf(text, TEXT_SIZE, "%.*s%s%s", (int)(at - f->document), f->document, what, at);
}

static void try_silent(const format *f, const reading *plain, const rg_robot_words *w,
                       const char *at, const char *word, bool attribute) {
    char text[TEXT_SIZE], what[100];
    bool known = false;
    for (size_t i = 0; f->silent[i]; i++)
        known = known || has_word(f->silent[i], word, strlen(word));
    if (!known)
        fail_msg("%s %s: no reason is given why it is ignored", w->element, word);
    if (attribute) {
        snprintf(what, sizeof what, " %s='0.123'", word);
        insert(f, at, what, text);
    } else {
        const char *end = at + strcspn(at, ">");
        if (end[-1] == '/')
            return;
        snprintf(what, sizeof what, "<%s/>", word);
        insert(f, end + 1, what, text);
    }
    reading one = read_as(text, false);
    if (one.status != RG_OK || one.left_out || strcmp(one.text, plain->text) != 0)
        fail_msg("%s %s: is not ignored: %s", w->element, word, one.error.text);
    free(one.text);
}

/* A word that no table has: refused, and listed with its place; without it all is as before. */
static void try_unknown(const format *f, const reading *plain, const rg_robot_words *w,
                        const char *at) {
    char text[TEXT_SIZE];
    insert(f, at, " nonsense='1'", text);
    reading strict = read_as(text, false), lenient = read_as(text, true);
    assert_int_equal(strict.status, RG_UNSUPPORTED);
    assert_int_equal(strncmp(strict.error.text, "t:1:", 4), 0);
    assert_non_null(strstr(strict.error.text, ": the attribute nonsense is not understood; --len"));
    if (lenient.status != RG_OK || lenient.left_out != 1 || strcmp(lenient.text, plain->text) != 0)
        fail_msg("%s: an attribute that is not understood is not listed", w->element);
    free(lenient.text);
    const char *end = at + strcspn(at, ">");
    if (end[-1] == '/' || (end[1] != '<'))
        return;
    insert(f, end + 1, "<nonsense/>", text);
    strict = read_as(text, false), lenient = read_as(text, true);
    assert_int_equal(strict.status, RG_UNSUPPORTED);
    assert_non_null(strstr(strict.error.text, ": nonsense: not understood; --lenient leaves it o"));
    if (lenient.status != RG_OK || lenient.left_out != 1 || strcmp(lenient.text, plain->text) != 0)
        fail_msg("%s: an element that is not understood is not listed", w->element);
    free(lenient.text);
}

static void all_else_is_named(const format *f) {
    char word[64];
    reading plain = read_as(f->document, false);
    if (plain.status != RG_OK)
        fail_msg("%s", plain.error.text);
    for (size_t i = 0; i < f->vocabulary->count; i++) {
        const rg_robot_words *w = &f->vocabulary->table[i];
        const char *at = find_element(f, w);
        if (!at)
            fail_msg("the document has no %s", w->element);
        try_unknown(f, &plain, w, at);
        for (const char *list = w->silent_attributes; next_word(&list, word);)
            try_silent(f, &plain, w, at, word, true);
        for (const char *list = w->silent_children; next_word(&list, word);)
            try_silent(f, &plain, w, at, word, false);
    }
    free(plain.text);
}

/* ---- MJCF ---- */

#define CUBE "0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 1 0 1 0 1 1 1 1 1"

/* clang-format off */
static const char mjcf_document[] =
    "<mujoco><compiler angle='radian' meshdir='../../meshes'/>"
    "<option timestep='0.01'><flag/></option>"
    "<default><default class='c'><geom density='500'/><joint damping='0.5'/><site pos='0 0 0.1'/>"
    "<mesh scale='2 2 2'/><tendon damping='0.3'/><equality active='false'/><motor gear='3'/>"
    "</default><geom density='1000'/><joint armature='0'/><site size='1'/><mesh scale='1 1 1'/>"
    "<motor/><position kp='1'/><velocity kv='1'/><general biastype='none'/>"
    "<tendon stiffness='0'/><equality/></default>"
    "<equality><joint joint1='e1' joint2='e2'/><tendon tendon1='t1'/></equality>"
    "<tendon><fixed name='t1'><joint joint='h' coef='1'/><joint joint='s' coef='2'/>"
    "<joint joint='p1' coef='3'/></fixed><fixed name='t2' range='-1 1'><joint joint='p1' coef='1'/>"
    "</fixed><fixed name='t3'><joint joint='p1' coef='1'/><joint joint='p2' coef='2'/></fixed>"
    "<spatial name='r' range='0 9'><site site='a'/><site site='w'/></spatial></tendon>"
    "<contact><exclude body1='x' body2='y'/></contact>"
    "<actuator><position joint='h' kp='1'/><velocity joint='p2' kv='2'/>"
    "<general joint='s' biastype='affine' biasprm='0 -2 0'/></actuator>"
    "<keyframe><key name='k' qpos='0 0 0 1 0 0 0 0 5 0 1 0 0 0 0 59 0 1 0 0 0 0.1 0.1 0 0 0 0'/>"
    "</keyframe><asset><mesh name='cube' vertex='" CUBE "'/>"
    "<mesh name='quads' file='cube_quads.obj'/></asset>"
    "<worldbody><geom type='plane' size='1 1 1' pos='0 0 -50'/><site name='w'/>"
    "<body name='x'><freejoint/><geom size='0.1'/></body>"
    "<body name='y' pos='0 5 0'><freejoint/><geom type='mesh' mesh='cube'/><site name='a'/></body>"
    "<body name='q' pos='0 59 0'><freejoint/><geom type='mesh' mesh='quads'/></body>"
    "<body name='bh' pos='5 0 0'><joint name='h' axis='0 1 0'/><geom size='0.1' pos='0 0 -1'/>"
    "</body><body name='bs' pos='9 0 0'><joint name='s' type='slide'/><geom size='0.1'/></body>"
    "<body name='b1' pos='0 9 0'><joint name='e1' axis='1 0 0'/><geom type='box' size='1 0.1 0.1'/>"
    "</body><body name='b2' pos='0 19 0'><joint name='e2' axis='1 0 0'/>"
    "<geom type='capsule' size='0.1 0.2'/></body>"
    "<body name='b3' pos='0 29 0'><joint name='p1' axis='1 0 0' range='-2 2'/><geom size='0.1'/>"
    "</body><body name='b4' pos='0 39 0'><joint name='p2' axis='1 0 0'/>"
    "<inertial pos='0 0 0.1' mass='2' diaginertia='1 2 3'/></body></worldbody></mujoco>";
/* clang-format on */

/* The box, in which attributes of geoms show, and the free ball. */
#define BOX            "<geom type='box' size='1 0.1 0.1'"
#define OF_BOX(a)      BOX, BOX " " a
#define HINGE          "<joint name='p1' axis='1 0 0' range='-2 2'"
#define OF_HINGE(a)    HINGE, HINGE " " a
#define FIXED          "<fixed name='t2'"
#define OF_FIXED(a)    FIXED, FIXED " " a
#define SITE           "<site name='a'"
#define OF_SITE(a)     SITE, SITE " " a
#define SPATIAL        "<spatial name='r'"
#define OF_SPATIAL(a)  SPATIAL, SPATIAL " " a
#define POSITION       "<position joint='h'"
#define OF_POSITION(a) POSITION, POSITION " " a
#define VELOCITY       "<velocity joint='p2'"
#define OF_VELOCITY(a) VELOCITY, VELOCITY " " a
#define GENERAL        "<general joint='s'"
#define OF_GENERAL(a)  GENERAL, GENERAL " " a
#define MOTOR          "</default><geom density='1000'/>", "</default><geom density='1000'/><motor "
#define LAST           "</actuator>"
#define BODY           "<body name='b1' pos='0 9 0'"
#define OF_BODY(a)     BODY, BODY " " a
#define INERTIAL       "<inertial pos='0 0 0.1' mass='2' diaginertia='1 2 3'"

static const row mjcf_rows[] = {
    {"compiler", "angle", "angle='radian'", "angle='degree'"},
    {"compiler", "autolimits", "<compiler", "<compiler autolimits='false'"},
    {"compiler", "eulerseq", "<compiler", "<compiler eulerseq='abc'"},
    {"compiler", "meshdir", "meshdir='../../meshes'", ""},
    {"compiler", "assetdir", "meshdir='../../meshes'", "assetdir='../../../meshes'"},
    {"compiler", "strippath", "<compiler", "<compiler strippath='perhaps'"},
    {"compiler", "inertiafromgeom", "<compiler", "<compiler inertiafromgeom='false'"},
    {"compiler", "settotalmass", "<compiler", "<compiler settotalmass='7'"},
    {"option", "timestep", "timestep='0.01'", "timestep='0.02'"},
    {"option", "gravity", "<option", "<option gravity='0 0 -1'"},
    {"option", "density", "<option", "<option density='1'"},
    {"option", "viscosity", "<option", "<option viscosity='1'"},
    {"option", "collision", "<option", "<option collision='predefined'"},
    {"flag", "contact", "<flag", "<flag contact='disable'"},
    {"flag", "gravity", "<flag", "<flag gravity='disable'"},
    {"flag", "constraint", "<flag", "<flag constraint='disable'"},
    {"flag", "clampctrl", "<flag", "<flag clampctrl='no'"},
    {"mesh", "name", "name='cube'", "name='die'"},
    {"mesh", "class", "<mesh name='cube'", "<mesh class='c' name='cube'"},
    {"mesh", "file", "<mesh name='cube'", "<mesh file='none.stl' name='cube'"},
    {"mesh", "scale", "<mesh name='cube'", "<mesh scale='1 2 1' name='cube'"},
    {"mesh", "vertex", CUBE, CUBE " 2 2 2"},
    {"mesh", "inertia", "<mesh name='cube'", "<mesh inertia='shell' name='cube'"},
    {"default", "class", "<default class='c'", "<default class=''"},
    {"default/tendon", "limited", "<tendon stiffness='0'", "<tendon limited='true'"},
    {"default/tendon", "range", "<tendon stiffness='0'", "<tendon range='0 1'"},
    {"default/tendon", "stiffness", "<tendon stiffness='0'", "<tendon stiffness='2'"},
    {"default/tendon", "springlength", "<tendon stiffness='0'",
     "<tendon stiffness='2' springlength='0 1'"},
    {"default/tendon", "damping", "<tendon stiffness='0'", "<tendon damping='2'"},
    {"default/tendon", "frictionloss", "<tendon stiffness='0'", "<tendon frictionloss='2'"},
    {"default/tendon", "margin", "<tendon stiffness='0'", "<tendon margin='2'"},
    {"default/equality", "active", "<equality/>", "<equality active='false'/>"},
    {"body", "name", "<body name='bh'", "<body name='bj'"},
    {"body", "childclass", OF_BODY("childclass='c'")},
    {"body", "pos", "pos='0 9 0'", "pos='0 8 0'"},
    {"body", "quat", OF_BODY("quat='0 1 0 0'")},
    {"body", "axisangle", OF_BODY("axisangle='1 0 0 1'")},
    {"body", "euler", OF_BODY("euler='1 0 0'")},
    {"body", "xyaxes", OF_BODY("xyaxes='0 1 0 1 0 0'")},
    {"body", "zaxis", OF_BODY("zaxis='1 0 0'")},
    {"inertial", "pos", INERTIAL, "<inertial pos='0 0 0.2' mass='2' diaginertia='1 2 3'"},
    {"inertial", "mass", INERTIAL, "<inertial pos='0 0 0.1' mass='3' diaginertia='1 2 3'"},
    {"inertial", "diaginertia", INERTIAL, "<inertial pos='0 0 0.1' mass='2' diaginertia='1 2 2'"},
    {"inertial", "fullinertia", INERTIAL,
     "<inertial pos='0 0 0.1' mass='2' fullinertia='1 2 3 0.1 0 0'"},
    {"inertial", "quat", INERTIAL, INERTIAL " quat='1 1 0 0'"},
    {"inertial", "axisangle", INERTIAL, INERTIAL " axisangle='1 0 0 1'"},
    {"inertial", "euler", INERTIAL, INERTIAL " euler='1 0 0'"},
    {"inertial", "xyaxes", INERTIAL, INERTIAL " xyaxes='0 1 0 1 0 0'"},
    {"inertial", "zaxis", INERTIAL, INERTIAL " zaxis='1 0 0'"},
    {"tendon/fixed", "name", "name='t1'", "name='tt'"},
    {"tendon/fixed", "class", OF_FIXED("class='c'")},
    {"tendon/fixed", "limited", OF_FIXED("limited='false'")},
    {"tendon/fixed", "range", "range='-1 1'", "range='-1 0.5'"},
    {"tendon/fixed", "stiffness", OF_FIXED("stiffness='1'")},
    {"tendon/fixed", "springlength", OF_FIXED("stiffness='1' springlength='0 1'")},
    {"tendon/fixed", "damping", OF_FIXED("damping='1'")},
    {"tendon/fixed", "frictionloss", OF_FIXED("frictionloss='1'")},
    {"tendon/fixed", "margin", OF_FIXED("margin='0.1'")},
    {"fixed/joint", "joint", "<joint joint='h'", "<joint joint='e1'"},
    {"fixed/joint", "coef", "coef='2'", "coef='4'"},
    {"equality/joint", "class", "<joint joint1", "<joint class='c' joint1"},
    {"equality/joint", "joint1", "joint1='e1'", "joint1='p1'"},
    {"equality/joint", "joint2", "joint2='e2'", "joint2='p1'"},
    {"equality/joint", "polycoef", "<joint joint1", "<joint polycoef='0 2' joint1"},
    {"equality/joint", "active", "<joint joint1", "<joint active='false' joint1"},
    {"equality/tendon", "class", "<tendon tendon1", "<tendon class='c' tendon1"},
    {"equality/tendon", "tendon1", "tendon1='t1'", "tendon1='t2'"},
    {"equality/tendon", "tendon2", "<tendon tendon1", "<tendon tendon2='t2' tendon1"},
    {"equality/tendon", "polycoef", "<tendon tendon1", "<tendon polycoef='1' tendon1"},
    {"equality/tendon", "active", "<tendon tendon1", "<tendon active='false' tendon1"},
    {"tendon/spatial", "name", "name='r'", "name='rr'"},
    {"tendon/spatial", "class", OF_SPATIAL("class='c'")},
    {"tendon/spatial", "limited", OF_SPATIAL("limited='false'")},
    {"tendon/spatial", "range", "range='0 9'", "range='0 8'"},
    {"tendon/spatial", "stiffness", OF_SPATIAL("stiffness='1'")},
    {"tendon/spatial", "damping", OF_SPATIAL("damping='1'")},
    {"tendon/spatial", "frictionloss", OF_SPATIAL("frictionloss='1'")},
    {"tendon/spatial", "margin", OF_SPATIAL("margin='1'")},
    {"spatial/site", "site", "<site site='a'", "<site site='w'"},
    {"geom", "class", OF_BOX("class='c'")},
    {"geom", "type", "type='box'", "type='ellipsoid'"},
    {"geom", "pos", OF_BOX("pos='0 0 1'")},
    {"geom", "size", "size='1 0.1 0.1'", "size='1 0.2 0.1'"},
    {"geom", "fromto", OF_BOX("fromto='0 0 0 1 0 0'")},
    {"geom", "mesh", "mesh='cube'", "mesh='none'"},
    {"geom", "mass", OF_BOX("mass='1'")},
    {"geom", "density", OF_BOX("density='1'")},
    {"geom", "contype", OF_BOX("contype='2'")},
    {"geom", "conaffinity", OF_BOX("conaffinity='2'")},
    {"geom", "condim", OF_BOX("condim='1'")},
    {"geom", "friction", OF_BOX("friction='0.3'")},
    {"geom", "priority", OF_BOX("friction='0.3' priority='1'")},
    {"geom", "margin", OF_BOX("margin='0.1'")},
    {"geom", "quat", OF_BOX("quat='1 1 0 0'")},
    {"geom", "axisangle", OF_BOX("axisangle='1 0 0 1'")},
    {"geom", "euler", OF_BOX("euler='1 0 0'")},
    {"geom", "xyaxes", OF_BOX("xyaxes='0 1 0 1 0 0'")},
    {"geom", "zaxis", OF_BOX("zaxis='1 0 0'")},
    {"joint", "name", "<joint name='p2'", "<joint name='pp'"},
    {"joint", "class", OF_HINGE("class='c'")},
    {"joint", "type", "<joint name='s' type='slide'", "<joint name='s' type='hinge'"},
    {"joint", "pos", OF_HINGE("pos='0 0 1'")},
    {"joint", "axis", "<joint name='h' axis='0 1 0'", "<joint name='h' axis='0 1 1'"},
    {"joint", "range", "range='-2 2'", "range='-2 0.5'"},
    {"joint", "limited", "<joint name='h'", "<joint name='h' limited='true'"},
    {"joint", "stiffness", OF_HINGE("stiffness='1'")},
    {"joint", "springref", OF_HINGE("stiffness='1' springref='1'")},
    {"joint", "damping", OF_HINGE("damping='1'")},
    {"joint", "armature", OF_HINGE("armature='1'")},
    {"joint", "frictionloss", OF_HINGE("frictionloss='1'")},
    {"joint", "ref", OF_HINGE("ref='1'")},
    {"joint", "margin", OF_HINGE("margin='1'")},
    {"joint", "actuatorfrcrange", "<joint name='h'", "<joint name='h' actuatorfrcrange='-1 1'"},
    {"joint", "actuatorfrclimited", "<joint name='h'", "<joint name='h' actuatorfrclimited='true'"},
    {"site", "name", "<site name='a'", "<site name='b'"},
    {"site", "class", OF_SITE("class='c'")},
    {"site", "pos", OF_SITE("pos='0 0 1'")},
    {"site", "fromto", OF_SITE("fromto='0 0 0 0 0 1'")},
    {"exclude", "body1", "body1='x'", "body1='bh'"},
    {"exclude", "body2", "body2='y'", "body2='bh'"},
    {"motor", "class", LAST, "<motor class='c' joint='p1' ctrlrange='1 2'/>" LAST},
    {"motor", "joint", LAST, "<motor joint='p1'/>" LAST},
    {"motor", "tendon", LAST, "<motor tendon='t1'/>" LAST},
    {"motor", "gear", MOTOR "gear='3'/>"},
    {"motor", "forcerange", MOTOR "forcerange='-3 3'/>"},
    {"motor", "forcelimited", MOTOR "forcelimited='true'/>"},
    {"motor", "ctrlrange", MOTOR "ctrlrange='1 3'/>"},
    {"motor", "ctrllimited", MOTOR "ctrllimited='true'/>"},
    {"position", "class", OF_POSITION("class='c'")},
    {"position", "joint", "<position joint='h'", "<position joint='e1'"},
    {"position", "tendon", "<position joint='h'", "<position tendon='t1'"},
    {"position", "gear", OF_POSITION("gear='2'")},
    {"position", "forcerange", OF_POSITION("forcerange='-2 2'")},
    {"position", "forcelimited", OF_POSITION("forcelimited='true'")},
    {"position", "ctrlrange", OF_POSITION("ctrlrange='2 3'")},
    {"position", "ctrllimited", OF_POSITION("ctrllimited='true'")},
    {"position", "kp", "kp='1'/><velocity joint", "kp='2'/><velocity joint"},
    {"position", "kv", OF_POSITION("kv='2'")},
    {"position", "inheritrange", "<position joint='h' kp='1'/>",
     "<position joint='h' kp='1'/><position joint='p1' kp='1' inheritrange='1'/>"},
    {"velocity", "class", OF_VELOCITY("class='c'")},
    {"velocity", "joint", "<velocity joint='p2'", "<velocity joint='e1'"},
    {"velocity", "tendon", "<velocity joint='p2'", "<velocity tendon='t1'"},
    {"velocity", "gear", OF_VELOCITY("gear='2'")},
    {"velocity", "forcerange", OF_VELOCITY("forcerange='-2 2'")},
    {"velocity", "forcelimited", OF_VELOCITY("forcelimited='true'")},
    {"velocity", "ctrlrange", OF_VELOCITY("ctrlrange='2 3'")},
    {"velocity", "ctrllimited", OF_VELOCITY("ctrllimited='true'")},
    {"velocity", "kv", "kv='2'", "kv='3'"},
    {"general", "class", OF_GENERAL("class='c'")},
    {"general", "joint", "<general joint='s'", "<general joint='e1'"},
    {"general", "tendon", "<general joint='s'", "<general tendon='t1'"},
    {"general", "gear", OF_GENERAL("gear='2'")},
    {"general", "forcerange", OF_GENERAL("forcerange='-2 2'")},
    {"general", "forcelimited", OF_GENERAL("forcelimited='true'")},
    {"general", "ctrlrange", OF_GENERAL("ctrlrange='2 3'")},
    {"general", "ctrllimited", OF_GENERAL("ctrllimited='true'")},
    {"general", "gainprm", OF_GENERAL("ctrlrange='2 3' gainprm='2'")},
    {"general", "biastype", "biastype='affine'", "biastype='none'"},
    {"general", "biasprm", "biasprm='0 -2 0'", "biasprm='0 -3 0'"},
    {"general", "gaintype", OF_GENERAL("gaintype='affine'")},
    {"general", "dyntype", OF_GENERAL("dyntype='filter'")},
    {"key", "name", "<key name='k'", "<key name='z'"},
    {"key", "qpos", "0.1 0.1 0", "0.1 0.2 0"},
    {"key", "qvel", "<key name='k'", "<key qvel='1' name='k'"},
    {"key", "ctrl", "<key name='k'", "<key ctrl='1' name='k'"},
};

static const format mjcf = {
    .vocabulary = &rg_mjcf_vocabulary,
    .document = mjcf_document,
    .rows = mjcf_rows,
    .row_count = sizeof mjcf_rows / sizeof *mjcf_rows,
    .silent =
        {/* only to be seen, or measured */
         "visual statistic custom sensor texture material light camera rgba group width type "
         "size texturedir texcoord normal energy sensornoise",
         /* named for people, or for the caller's own use */
         "model name user",
         /* tunes soft contacts and limits, solvers and integrators */
         "solimp solref solmix solimplimit solreflimit solimpfriction solreffriction "
         "integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance "
         "noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations "
         "mpr_tolerance impratio apirate warmstart multiccd island nativeccd eulerdamp "
         "refsafe midphase fwdinv autoreset",
         /* how a model is compiled and kept, with the same motion */
         "fusestatic convexhull usethread alignfree saveinertial",
         /* the hull of a mesh has faces of its own */
         "face",
         /* of what is not read, or of a spring, which a rope has not */
         "pair dynprm springlength",
         /* of a point */
         "quat axisangle euler xyaxes zaxis",
         /* a keyframe is where a run begins, at the time 0 */
         "time"},
};

/* ---- URDF ---- */

#define HEAVY                                                                                      \
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"        \
    "</inertial>"

static const char urdf_document[] =
    "<robot><link name='base'><contact><lateral_friction value='0.5'/></contact>"
    "<inertial><origin xyz='0 0 0.1' rpy='0 0 0'/><mass value='2'/>"
    "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0 0 0.2'/><geometry><box size='1 2 3'/></geometry></collision>"
    "<collision><geometry><sphere radius='0.5'/></geometry></collision>"
    "<collision><geometry><cylinder radius='0.5' length='1'/></geometry></collision>"
    "<collision><geometry><mesh filename='../../meshes/cube_quads.obj'/></geometry></collision>"
    "</link><link name='a'>" HEAVY
    "<collision><geometry><capsule radius='0.5' length='1'/></geometry>"
    "</collision></link><link name='b'>" HEAVY "</link><link name='d'>" HEAVY "</link>"
    "<joint name='ja' type='revolute'><parent link='base'/><child link='a'/>"
    "<origin xyz='9 0 0'/><axis xyz='0 1 0'/><limit lower='-1' upper='1'/>"
    "<dynamics damping='0.5' friction='0.25'/></joint>"
    "<joint name='jb' type='prismatic'><parent link='base'/><child link='b'/>"
    "<origin xyz='0 9 0'/></joint>"
    "<joint name='jd' type='prismatic'><parent link='base'/><child link='d'/>"
    "<origin xyz='0 19 0'/><joint_properties damping='0.5' friction='0.5'/>"
    "<mimic joint='jb' multiplier='2'/></joint></robot>";

static const row urdf_rows[] = {
    {"link", "name", "<link name='a'", "<link name='c'"},
    {"origin", "xyz", "xyz='0 0 0.2'", "xyz='0 0 0.3'"},
    {"origin", "rpy", "xyz='0 0 0.2'", "xyz='0 0 0.2' rpy='1 0 0'"},
    {"mass", "value", "<mass value='2'", "<mass value='3'"},
    {"inertia", "ixx", "ixx='1' iyy='2'", "ixx='1.5' iyy='2'"},
    {"inertia", "ixy", "izz='2.5' ixy='0'", "izz='2.5' ixy='0.1'"},
    {"inertia", "ixz", "izz='2.5' ixy='0' ixz='0'", "izz='2.5' ixy='0' ixz='0.1'"},
    {"inertia", "iyy", "iyy='2'", "iyy='2.1'"},
    {"inertia", "iyz", "izz='2.5' ixy='0' ixz='0' iyz='0'", "izz='2.5' ixy='0' ixz='0' iyz='0.1'"},
    {"inertia", "izz", "izz='2.5'", "izz='2.6'"},
    {"box", "size", "size='1 2 3'", "size='1 2 4'"},
    {"sphere", "radius", "<sphere radius='0.5'", "<sphere radius='0.6'"},
    {"cylinder", "radius", "<cylinder radius='0.5'", "<cylinder radius='0.6'"},
    {"cylinder", "length", "<cylinder radius='0.5' length='1'",
     "<cylinder radius='0.5' length='2'"},
    {"mesh", "filename", "cube_quads.obj", "l_prism.obj"},
    {"mesh", "scale", "<mesh ", "<mesh scale='1 2 3' "},
    {"lateral_friction", "value", "value='0.5'", "value='0.6'"},
    {"joint", "name", "<joint name='ja'", "<joint name='j'"},
    {"joint", "type", "type='revolute'", "type='continuous'"},
    {"mimic", "joint", "<mimic joint='jb'", "<mimic joint='ja'"},
    {"mimic", "multiplier", "multiplier='2'", "multiplier='3'"},
    {"mimic", "offset", "multiplier='2'", "multiplier='2' offset='1'"},
    {"parent", "link", "<parent link='base'/><child link='a'", "<parent link='b'/><child link='a'"},
    {"axis", "xyz", "<axis xyz='0 1 0'", "<axis xyz='0 1 1'"},
    {"limit", "lower", "lower='-1'", "lower='-2'"},
    {"limit", "upper", "upper='1'", "upper='2'"},
    {"dynamics", "damping", "<dynamics damping='0.5'", "<dynamics damping='0.6'"},
    {"dynamics", "friction", "friction='0.25'", "friction='0.35'"},
    /* Joints that have not one axis, and what comes twice. */
    {"joint", "type", "type='revolute'", "type='planar'"},
    {"joint", "type", "type='revolute'", "type='floating'"},
    {"joint", "axis", "<axis xyz='0 1 0'/>", "<axis xyz='0 1 0'/><axis xyz='1 0 0'/>"},
    {"joint", "limit", "<limit lower", "<limit/><limit lower"},
    {"link", "inertial", "<link name='b'>", "<link name='b'>" HEAVY},
    {"geometry", "box", "<box size='1 2 3'/>", "<box size='1 2 3'/><sphere radius='2'/>"},
    {"joint", "dynamics", "<joint_properties", "<dynamics/><joint_properties"},
    {"mass", "value", "<mass value='2'", "<mass value='0'"},
    {"mass", "value", "<mass value='2'", "<mass value='-2'"},
};

static const format urdf = {
    .vocabulary = &rg_urdf_vocabulary,
    .document = urdf_document,
    .rows = urdf_rows,
    .row_count = sizeof urdf_rows / sizeof *urdf_rows,
    .silent =
        {/* only to be seen */
         "visual material",
         /* named for people, or in other programs' vocabulary */
         "name version type group",
         /* of controllers and motors, of which a description has none */
         "transmission safety_controller calibration effort velocity"},
};

/* ---- SDF ---- */

#define SDF_HEAVY                                                                                  \
    "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define SHAPE(form) "<collision><geometry>" form "</geometry></collision>"

/* clang-format off */
static const char sdf_document[] =
    "<sdf version='1.9'><world><physics><max_step_size>0.01</max_step_size></physics>"
    "<gravity>0 0 -9</gravity><include><uri>../../robots/cart</uri><name>n</name>"
    "<static>false</static>"
    "<pose>0 0 -9 0 0 0</pose></include>"
    "<model name='m'><static>false</static>"
    "<self_collide>false</self_collide><frame name='f' attached_to='b'><pose>0 0 0.5 0 0 0</pose>"
    "</frame><pose relative_to='world'>0 0 1 0 0 0</pose>"
    "<link name='a'><pose>0 0 0 0 0 0</pose><gravity>true</gravity>"
    "<self_collide>false</self_collide><kinematic>false</kinematic>"
    "<velocity_decay><linear>0</linear><angular>0</angular></velocity_decay>"
    "<inertial><pose>0 0 0.1 0 0 0</pose><mass>2</mass><inertia><ixx>1</ixx><ixy>0</ixy>"
    "<ixz>0</ixz><iyy>2</iyy><iyz>0</iyz><izz>2.5</izz></inertia></inertial>"
    "<collision><geometry><box><size>1 2 3</size></box></geometry><surface>"
    "<friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode></friction>"
    "<bounce><restitution_coefficient>0</restitution_coefficient></bounce>"
    "<contact><collide_bitmask>65535</collide_bitmask></contact></surface></collision>"
    SHAPE("<sphere><radius>0.5</radius></sphere>")
    SHAPE("<cylinder><radius>0.5</radius><length>1</length></cylinder>")
    SHAPE("<ellipsoid><radii>1 2 3</radii></ellipsoid>")
    SHAPE("<mesh><uri>../../meshes/cube_quads.obj</uri></mesh>") "</link>"
    "<link name='b'><pose>9 0 0 0 0 0</pose>" SDF_HEAVY "</link>"
    "<link name='d'><pose>0 9 0 0 0 0</pose>" SDF_HEAVY "</link>"
    "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>"
    "<use_parent_model_frame>false</use_parent_model_frame><initial_position>0</initial_position>"
    "<limit><lower>-1</lower><upper>1</upper></limit><dynamics><damping>0.5</damping>"
    "<friction>0.25</friction><spring_reference>0.1</spring_reference>"
    "<spring_stiffness>3</spring_stiffness></dynamics></axis></joint>"
    "<joint name='k' type='revolute'><parent>a</parent><child>d</child><axis><xyz>0 1 0</xyz>"
    "<mimic joint='j' axis='axis'><multiplier>2</multiplier><offset>0</offset>"
    "<reference>0</reference></mimic></axis></joint></model>"
    "<model name='floor'><static>true</static><link name='g'><pose>0 0 -50 0 0 0</pose>"
    SHAPE("<plane><normal>0 0 1</normal></plane>") "</link></model></world></sdf>";
/* clang-format on */

static const row sdf_rows[] = {
    {"sdf", "version", "version='1.9'", "version='1.2'"},
    {"world", "gravity", "0 0 -9<", "0 0 -8<"},
    {"physics", "max_step_size", "0.01", "0.02"},
    {"physics", "gravity", "</max_step_size></physics><gravity>0 0 -9</gravity>",
     "</max_step_size><gravity>0 0 -8</gravity></physics>"},
    {"include", "uri", "robots/cart", "robots/none"},
    {"include", "name", "<name>n<", "<name>m<"},
    {"include", "static", "<static>false</static><pose>0 0 -9",
     "<static>true</static><pose>0 0 -9"},
    {"model", "name", "<model name='m'", "<model name='floor'"},
    {"model", "static", "<static>false", "<static>true"},
    {"model", "self_collide", "<self_collide>false</self_collide><frame",
     "<self_collide>true</self_collide><frame"},
    {"frame", "name", "<frame name='f'", "<frame name='a'"},
    {"frame", "attached_to", "<pose>0 9 0 0", "<pose relative_to='f'>0 9 0 0"},
    {"pose", "=", "<pose>9 0", "<pose>8 0"},
    {"pose", "relative_to", "<pose>0 9 0 0", "<pose relative_to='b'>0 9 0 0"},
    {"pose", "frame", "<pose>0 9 0 0", "<pose frame='b'>0 9 0 0"},
    {"pose", "rotation_format", "<pose>9 0 0 0 0 0",
     "<pose rotation_format='quat_xyzw'>9 0 0 0 0 1 0"},
    {"pose", "degrees", "<pose>9 0 0 0 0 0", "<pose degrees='true'>9 0 0 0 0 90"},
    {"link", "name", "<link name='b'", "<link name='bb'"},
    {"link", "gravity", "<gravity>true", "<gravity>false"},
    {"link", "self_collide", "<self_collide>false</self_collide><kin",
     "<self_collide>true</self_collide><kin"},
    {"link", "kinematic", "<kinematic>false", "<kinematic>true"},
    {"velocity_decay", "linear", "<linear>0", "<linear>1"},
    {"velocity_decay", "angular", "<angular>0", "<angular>1"},
    {"inertial", "mass", "<mass>2", "<mass>3"},
    {"inertia", "ixx", "<ixx>1</ixx><ixy>", "<ixx>1.5</ixx><ixy>"},
    {"inertia", "ixy", "<ixy>0", "<ixy>0.1"},
    {"inertia", "ixz", "<ixz>0", "<ixz>0.1"},
    {"inertia", "iyy", "<iyy>2", "<iyy>2.1"},
    {"inertia", "iyz", "<iyz>0", "<iyz>0.1"},
    {"inertia", "izz", "<izz>2.5", "<izz>2.6"},
    {"box", "size", "<size>1 2 3", "<size>1 2 4"},
    {"sphere", "radius", "<sphere><radius>0.5", "<sphere><radius>0.6"},
    {"cylinder", "radius", "<cylinder><radius>0.5", "<cylinder><radius>0.6"},
    {"cylinder", "length", "<length>1", "<length>2"},
    {"ellipsoid", "radii", "<radii>1 2 3", "<radii>1 2 4"},
    {"plane", "normal", "<normal>0 0 1", "<normal>0 1 1"},
    {"mesh", "uri", "cube_quads.obj", "l_prism.obj"},
    {"mesh", "scale", "<mesh>", "<mesh><scale>1 2 3</scale>"},
    {"friction/ode", "mu", "<mu>0.5</mu><mu2>0.5</mu2>", "<mu>0.6</mu><mu2>0.6</mu2>"},
    {"friction/ode", "mu2", "<mu2>0.5", "<mu2>0.6"},
    {"bounce", "restitution_coefficient", "coefficient>0<", "coefficient>1<"},
    {"contact", "collide_bitmask", "65535", "0"},
    {"joint", "name", "<joint name='k'", "<joint name='l'"},
    {"joint", "type", "<joint name='k' type='revolute'", "<joint name='k' type='prismatic'"},
    {"joint", "parent", "<parent>a</parent><child>d", "<parent>b</parent><child>d"},
    {"joint", "child", "<child>d", "<child>b"},
    {"xyz", "=", "<xyz>0 1 0", "<xyz>0 1 1"},
    {"xyz", "expressed_in", "<xyz>0 1 0", "<xyz expressed_in='nowhere'>0 1 0"},
    {"axis", "use_parent_model_frame", "<use_parent_model_frame>false",
     "<use_parent_model_frame>perhaps"},
    {"axis", "initial_position", "<initial_position>0", "<initial_position>1"},
    {"limit", "lower", "<lower>-1", "<lower>-2"},
    {"limit", "upper", "<upper>1", "<upper>2"},
    {"dynamics", "damping", "<damping>0.5", "<damping>0.6"},
    {"dynamics", "friction", "<friction>0.25", "<friction>0.35"},
    {"dynamics", "spring_reference", "<spring_reference>0.1", "<spring_reference>0.2"},
    {"dynamics", "spring_stiffness", "<spring_stiffness>3", "<spring_stiffness>4"},
    {"mimic", "joint", "<mimic joint='j'", "<mimic joint='k'"},
    {"mimic", "axis", "axis='axis'", "axis='axis2'"},
    {"mimic", "multiplier", "<multiplier>2", "<multiplier>3"},
    {"mimic", "offset", "<offset>0", "<offset>1"},
    {"mimic", "reference", "<reference>0", "<reference>1"},
    /* What a joint of its type has not, and what comes twice. */
    {"joint", "axis", "<joint name='k' type='revolute'", "<joint name='k' type='ball'"},
    {"joint", "axis2", "<axis><xyz>0 1 0</xyz><mimic",
     "<axis2><xyz>1 0 0</xyz></axis2><axis><xyz>0 1 0</xyz><mimic"},
    {"geometry", "box", "<box><size>1 2 3</size></box>",
     "<box><size>1 2 3</size></box><sphere><radius>1</radius></sphere>"},
    {"link", "pose", "<link name='b'>", "<link name='b'><pose/>"},
};

static const format sdf = {
    .vocabulary = &rg_sdf_vocabulary,
    .document = sdf_document,
    .rows = sdf_rows,
    .row_count = sizeof sdf_rows / sizeof *sdf_rows,
    .silent =
        {/* only to be seen, heard or measured */
         "gui scene light visual sensor projector particle_emitter audio road audio_source "
         "audio_sink laser_retro spherical_coordinates size empty",
         /* of other programs' solvers, clocks and soft contacts */
         "name type default real_time_factor real_time_update_rate max_contacts ode bullet "
         "simbody dart physics stiffness dissipation allow_auto_disable",
         /* names the frame of a model, whose pose is that of the model without it */
         "canonical_link",
         /* of wind, lift and magnets, which are refused themselves */
         "atmosphere magnetic_field enable_wind",
         /* a hint to editors; what motors may do; what bounces, if anything did */
         "must_be_base_link effort velocity threshold"},
};

/* ---- */

static void mjcf_drops_nothing(void **state) {
    (void)state;
    all_is_read(&mjcf);
    all_else_is_named(&mjcf);
}

static void urdf_drops_nothing(void **state) {
    (void)state;
    all_is_read(&urdf);
    all_else_is_named(&urdf);
}

static void sdf_drops_nothing(void **state) {
    (void)state;
    all_is_read(&sdf);
    all_else_is_named(&sdf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urdf_drops_nothing),
        cmocka_unit_test(mjcf_drops_nothing),
        cmocka_unit_test(sdf_drops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
