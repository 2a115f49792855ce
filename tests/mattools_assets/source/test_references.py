"""Each kind of reference on the smallest program that has it; expected edges follow from Python's own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from mattools_assets.source.project import Project, analyse


def edges(project: Project) -> dict[tuple[str, str], str]:
    """`file:name` pairs with their certainty."""

    def name(index: int) -> str:
        item = project.objects[index]
        return f"{item.file.removesuffix('.py')}:{item.qualified_name}"

    return {(name(r.source), name(r.target)): r.certainty.name.lower() for r in project.references}


def analysed(folder: Path, **files: str) -> dict[tuple[str, str], str]:
    for name, text in files.items():
        path = folder / (name.replace("___", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return edges(analyse(folder))


TWO = "class A:\n  def f(self): pass\nclass B:\n  def f(self): pass\n"

CASES = {
    "local function": ("def f(): pass\ndef g(): return f()", {("m:g", "m:f"): "exact"}),
    "statement at module level": ("def f(): pass\nf()", {("m:", "m:f"): "exact"}),
    "method through self": (
        "class A:\n  def f(self): pass\n  def g(self): self.f()",
        {("m:A.g", "m:A.f"): "exact"},
    ),
    "first parameter by another name, behind a comment": (
        "class A:\n  def f(this): pass\n  def g(  # hint\n      this): this.f()",
        {("m:A.g", "m:A.f"): "exact"},
    ),
    "classmethod and constructor": (
        "class A:\n  def f(self): pass\n  @classmethod\n  def make(cls):\n    a = cls()\n    a.f()\n    return a",
        {("m:A.make", "m:A.f"): "typed"},
    ),
    "inherited, through super and self": (
        "class A:\n  def f(self): pass\n  def h(self): pass\nclass B(A):\n  def f(self): super().f()\n"
        "  def g(self): self.h()",
        {("m:B", "m:A"): "exact", ("m:B.f", "m:A.f"): "exact", ("m:B.g", "m:A.h"): "exact"},
    ),
    "diamond: C before A": (
        "class A:\n  def f(self): pass\nclass B(A): pass\nclass C(A):\n  def f(self): pass\n"
        "class D(B, C):\n  def g(self): self.f()",
        {
            ("m:B", "m:A"): "exact",
            ("m:C", "m:A"): "exact",
            ("m:D", "m:B"): "exact",
            ("m:D", "m:C"): "exact",
            ("m:D.g", "m:C.f"): "exact",
        },
    ),
    "hint of a parameter, also quoted and optional": (
        'class A:\n  def f(self): pass\n  def h(self): pass\ndef g(a: A): a.f()\ndef k(a: "A | None" = None): a.h()',
        {
            ("m:g", "m:A"): "exact",
            ("m:g", "m:A.f"): "typed",
            ("m:k", "m:A"): "exact",
            ("m:k", "m:A.h"): "typed",
        },
    ),
    "items of a hinted list": (
        "class A:\n  def f(self): pass\ndef g(many: list[A]):\n  for i, a in enumerate(many): a.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "comprehension variable hides an outer one": (
        "class A:\n  def f(self): pass\nclass B:\n  def f(self): pass\n"
        "def g(many: list[A]):\n  a = B()\n  return [a.f() for a in many]",
        {("m:g", "m:A"): "exact", ("m:g", "m:B"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "result with a hint, result without": (
        "class A:\n  def f(self): pass\ndef one() -> A: ...\ndef two(): return A()\n"
        "def g(): one().f()\ndef h():\n  x = two()\n  x.f()",
        {
            ("m:one", "m:A"): "exact",
            ("m:two", "m:A"): "exact",
            ("m:g", "m:one"): "exact",
            ("m:g", "m:A.f"): "typed",
            ("m:h", "m:two"): "exact",
            ("m:h", "m:A.f"): "typed",
        },
    ),
    "attribute set in the constructor": (
        "class A:\n  def f(self): pass\nclass B:\n  def __init__(self): self.a = A()\n  def g(self): self.a.f()",
        {("m:B.__init__", "m:A"): "exact", ("m:B.g", "m:A.f"): "typed"},
    ),
    "property read, setter written": (
        "class A:\n  @property\n  def p(self): return 1\n  @p.setter\n  def p(self, v): pass\n"
        "  def g(self): return self.p\n  def h(self): self.p = 2",
        {("m:A.p", "m:A.p"): "exact", ("m:A.g", "m:A.p"): "exact", ("m:A.h", "m:A.p"): "exact"},
    ),
    "a later assignment hides an earlier one": (
        "class A:\n  def f(self): pass\nclass B:\n  def f(self): pass\ndef g():\n  x = A()\n  x = B()\n  x.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:B"): "exact", ("m:g", "m:B.f"): "typed"},
    ),
    "either of two": (
        "class A:\n  def f(self): pass\nclass B:\n  def f(self): pass\n"
        "def g(c):\n  if c:\n    x = A()\n  else:\n    x = B()\n  x.f()",
        {
            ("m:g", "m:A"): "exact",
            ("m:g", "m:B"): "exact",
            ("m:g", "m:A.f"): "ambiguous",
            ("m:g", "m:B.f"): "ambiguous",
        },
    ),
    "one method through either of two subclasses": (
        "class A:\n  def f(self): pass\nclass B(A): pass\nclass C(A): pass\ndef g(x: B | C): x.f()",
        {
            ("m:B", "m:A"): "exact",
            ("m:C", "m:A"): "exact",
            ("m:g", "m:B"): "exact",
            ("m:g", "m:C"): "exact",
            ("m:g", "m:A.f"): "typed",
        },
    ),
    "a property, and a plain attribute of the class named before it": (
        "class A:\n  def __init__(self): self.p = 1\nclass B:\n  @property\n  def p(self): pass\n"
        "  def f(self): pass\ndef g(x: A | B): x.p; x.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:B"): "exact", ("m:g", "m:B.f"): "ambiguous"},
    ),
    "a property, and a plain attribute of the class named after it": (
        "class A:\n  p: int\nclass B:\n  @property\n  def p(self): pass\ndef g(x: B | A): x.p",
        {("m:g", "m:A"): "exact", ("m:g", "m:B"): "exact", ("m:g", "m:B.p"): "ambiguous"},
    ),
    "a property that super() reaches behind a plain attribute": (
        "class A:\n  @property\n  def p(self): pass\nclass B(A):\n  p = 1\n  def g(self): return super().p",
        {("m:B", "m:A"): "exact", ("m:B.g", "m:A.p"): "exact"},
    ),
    "isinstance narrows inside its block only": (
        "class A:\n  def f(self): pass\n  def u(self): pass\nclass B:\n  def u(self): pass\n"
        "def g(x):\n  if isinstance(x, A):\n    x.u()\n  x.u()",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.u"): "typed"},
    ),
    "parameter hides a function of its name": ("def f(): pass\ndef g(f): return f()", {}),
    "class names are not seen from methods": ("class A:\n  def f(self): pass\n  def g(self): return f()", {}),
    "attribute of another package": ("import numpy\ndef only(): pass\ndef g(): numpy.only()", {}),
    "only one class has the attribute": (
        "class A:\n  def very_rare(self): pass\ndef g(x): x.very_rare()",
        {("m:g", "m:A.very_rare"): "name_only"},
    ),
    "an attribute name of lists says nothing": ("class A:\n  def append(self): pass\ndef g(x): x.append(1)", {}),
    "nested function, decorator and recursion": (
        "def d(f):\n  def inner(): return f()\n  return inner\n@d\ndef g(n): return g(n - 1)",
        {("m:d", "m:d.inner"): "exact", ("m:g", "m:d"): "exact", ("m:g", "m:g"): "exact"},
    ),
    "global statement": (
        "class A:\n  def f(self): pass\nx = None\ndef s():\n  global x\n  x = A()\ndef g(): x.f()",
        {("m:s", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "match statement": (
        "class A:\n  def f(self): pass\ndef g(x):\n  match x:\n    case A(): pass",
        {("m:g", "m:A"): "exact"},
    ),
    "the grammar's reading of [*self.f()]": (
        "class A:\n  def f(self): pass\n  def g(self): return [*self.f()]",
        {("m:A.g", "m:A.f"): "exact"},
    ),
    "self type of an inherited method": (
        "from typing import Self\nclass A:\n  def copy(self) -> Self: ...\nclass B(A):\n  def f(self): pass\n"
        "def g(): B().copy().f()",
        {
            ("m:B", "m:A"): "exact",
            ("m:g", "m:B"): "exact",
            ("m:g", "m:A.copy"): "typed",
            ("m:g", "m:B.f"): "typed",
        },
    ),
    "a tuple without parentheses, taken apart": (
        TWO + "def two(): return A(), B()\ndef g():\n  a, b = two()\n  b.f()\ndef h():\n  a, b = A(), B()\n  a.f()",
        {
            ("m:two", "m:A"): "exact",
            ("m:two", "m:B"): "exact",
            ("m:g", "m:two"): "exact",
            ("m:g", "m:B.f"): "typed",
            ("m:h", "m:A"): "exact",
            ("m:h", "m:B"): "exact",
            ("m:h", "m:A.f"): "typed",
        },
    ),
    "a tuple without parentheses is none of its parts": (
        TWO + "def g():\n  x = 1, B()\n  x.f()",
        {("m:g", "m:B"): "exact"},
    ),
    "places behind a star count from the end": (
        TWO + "def g():\n  *a, b = A(), A(), B()\n  b.f()\ndef h():\n  (A(), A(), B())[-1].f()",
        {
            ("m:g", "m:A"): "exact",
            ("m:g", "m:B"): "exact",
            ("m:g", "m:B.f"): "typed",
            ("m:h", "m:A"): "exact",
            ("m:h", "m:B"): "exact",
            ("m:h", "m:B.f"): "typed",
        },
    ),
    "a tuple with a star in it has no known places": (
        TWO + "def g(many):\n  a, b = *many, A()\n  a.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "any place of a tuple as long as one likes": (
        "class A:\n  def f(self): pass\ndef g(many: tuple[A, ...]): many[-1].f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "an index that is no number of places": (
        "class A: pass\ndef g(): (A(), 1)[1j]; (A(), 1)[0x1]",
        {("m:g", "m:A"): "exact"},
    ),
    "a global name that is only read": (
        "def f(): pass\ndef o(f):\n  def i():\n    global f\n    def j(): f()\n    f()",
        {("m:o.i", "m:f"): "exact", ("m:o.i.j", "m:f"): "exact"},
    ),
    "comprehensions and lambdas in a class body do not see its names": (
        "def f(): pass\nclass A:\n  def f(self): pass\n  x = [f() for i in 'abc']\n"
        "class B:\n  def f(self): pass\n  x = lambda: f()",
        {("m:A", "m:f"): "exact", ("m:B", "m:f"): "exact"},
    ),
    "what the first `for` goes through and defaults of a lambda belong outside": (
        "def f(): pass\nclass A:\n  def f(self): pass\n  x = [i for i in f()]\n  y = lambda f=f: f()\n"
        "def g(): return [f for f in f()]\ndef h(): return [f for i in 'ab' for f in f()]",
        {("m:A", "m:A.f"): "exact", ("m:g", "m:f"): "exact"},
    ),
    "a walrus inside a comprehension binds around it": (
        TWO + "def g(many):\n  y = [x.f() for z in many if (x := A())]\ndef h(many):\n"
        "  x = B()\n  y = [z for z in many if (x := A())]\n  x.f()",
        {
            ("m:g", "m:A"): "exact",
            ("m:g", "m:A.f"): "typed",
            ("m:h", "m:A"): "exact",
            ("m:h", "m:B"): "exact",
            ("m:h", "m:A.f"): "typed",
        },
    ),
    "names that a match pattern binds hide others": (
        "def f(): pass\nclass C: pass\ndef a(v):\n  match v:\n    case [x, *f]: f()\ndef b(v):\n  match v:\n"
        "    case {1: x, **f}: f()\ndef c(v):\n  match v:\n    case [1] as f: f()\ndef d(v):\n  match v:\n"
        "    case C(x=f): f()\ndef e(v):\n  match v:\n    case (1 | 2) as f, _: f()",
        {("m:d", "m:C"): "exact"},
    ),
    "names that a match pattern compares with": (
        "class C:\n  class X:\n    class Y: pass\nclass D: pass\ndef g(v):\n  match v:\n    case C.X: pass\n"
        "    case D(x=C.X.Y()): pass\n    case {C.X: _}: pass",
        {
            ("m:g", "m:C"): "exact",
            ("m:g", "m:C.X"): "exact",
            ("m:g", "m:C.X.Y"): "exact",
            ("m:g", "m:D"): "exact",
        },
    ),
    "an instance that a match pattern captures": (
        TWO + "def g(v):\n  match v:\n    case A() as x: x.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "super with a class further up": (
        "class A:\n  def f(self): pass\nclass B(A):\n  def f(self): pass\nclass C(B):\n"
        "  def f(self): super(B, self).f()\n  @classmethod\n  def g(cls): super(C, cls).f()",
        {
            ("m:B", "m:A"): "exact",
            ("m:C", "m:B"): "exact",
            ("m:C.f", "m:B"): "exact",
            ("m:C.f", "m:A.f"): "exact",
            ("m:C.g", "m:C"): "exact",
            ("m:C.g", "m:B.f"): "exact",
        },
    ),
    "type parameters hide classes": (
        "class T: pass\nclass B: pass\ndef g[T: B, *U](x: T): return T\nclass G[T](list[T]):\n"
        "  def h(self, x: T): return T\ndef k(x: T): pass",
        {("m:g", "m:B"): "exact", ("m:k", "m:T"): "exact"},
    ),
    "what __enter__ and __aenter__ return": (
        TWO + "class C:\n  def __enter__(self): return A()\n  async def __aenter__(self) -> B: ...\n"
        "  def f(self): pass\ndef g():\n  with C() as x: x.f()\n"
        "class D:\n  async def __aenter__(self) -> B: ...\n  def f(self): pass\n"
        "async def h():\n  async with D() as x: x.f()",
        {
            ("m:C.__enter__", "m:A"): "exact",
            ("m:C.__aenter__", "m:B"): "exact",
            ("m:D.__aenter__", "m:B"): "exact",
            ("m:g", "m:C"): "exact",
            ("m:g", "m:A.f"): "typed",
            ("m:h", "m:D"): "exact",
            ("m:h", "m:B.f"): "typed",
        },
    ),
    "a name that is bound again where isinstance holds": (
        TWO + "def g(x):\n  if isinstance(x, A):\n    x = B()\n    x.f()",
        {("m:g", "m:A"): "exact", ("m:g", "m:B"): "exact", ("m:g", "m:B.f"): "typed"},
    ),
    "isinstance holds in the rest of its condition": (
        TWO + "def g(x):\n  if isinstance(x, A) and x.f(): pass",
        {("m:g", "m:A"): "exact", ("m:g", "m:A.f"): "typed"},
    ),
    "alternative constructors and copies of a subclass": (
        "class A:\n  @classmethod\n  def make(cls): return cls()\n  @classmethod\n  def two(cls): return 1, cls()\n"
        "  def same(self): return self\n  def plain(self): return A()\n  def f(self): pass\n"
        "class B(A):\n  def f(self): pass\ndef a(): B.make().f()\ndef b():\n  x, y = B.two()\n  y.f()\n"
        "def c(): B().same().f()\ndef d(): B().plain().f()",
        {
            ("m:A.plain", "m:A"): "exact",
            ("m:B", "m:A"): "exact",
            ("m:a", "m:B"): "exact",
            ("m:a", "m:A.make"): "exact",
            ("m:a", "m:B.f"): "typed",
            ("m:b", "m:B"): "exact",
            ("m:b", "m:A.two"): "exact",
            ("m:b", "m:B.f"): "typed",
            ("m:c", "m:B"): "exact",
            ("m:c", "m:A.same"): "typed",
            ("m:c", "m:B.f"): "typed",
            ("m:d", "m:B"): "exact",
            ("m:d", "m:A.plain"): "typed",
            ("m:d", "m:A.f"): "typed",
        },
    ),
    "private names belong to the class whose body mentions them": (
        "class A:\n  def __p(self): pass\n  def g(self): self.__p()\nclass B(A):\n  def h(self): self.__p()\n"
        "class C(A):\n  def __p(self): pass\ndef k(a: A): a.__p()",
        {
            ("m:A.g", "m:A.__p"): "exact",
            ("m:B", "m:A"): "exact",
            ("m:C", "m:A"): "exact",
            ("m:k", "m:A"): "exact",
        },
    ),
    "an augmented assignment binds a name, which keeps its type": (
        "def f(): pass\nclass A:\n  def u(self): pass\ndef g():\n  f += 1\n  f()\n"
        "def h():\n  x = A()\n  x += 1\n  x.u()",
        {("m:h", "m:A"): "exact", ("m:h", "m:A.u"): "typed"},
    ),
    "except* gives a group": (
        "class E(Exception):\n  def very_rare(self): pass\ndef g():\n  try: pass\n  except* E as e: e.very_rare()\n"
        "def h():\n  try: pass\n  except E as e: e.very_rare()",
        {("m:g", "m:E"): "exact", ("m:h", "m:E"): "exact", ("m:h", "m:E.very_rare"): "typed"},
    ),
    "letters that Python takes for the same": (
        "def \ufb01(): pass\ndef g(): fi()\ndef h(): \ufb01()",
        {("m:g", "m:fi"): "exact", ("m:h", "m:fi"): "exact"},
    ),
    "methods of a metaclass": (
        "class M(type):\n  def f(cls): pass\n  def h(cls): pass\nclass A(metaclass=M):\n  def h(self): pass\n"
        "class B(A): pass\ndef g(): B.f()\ndef k(): B.h()\ndef l(): B().f()",
        {
            ("m:A", "m:M"): "exact",
            ("m:B", "m:A"): "exact",
            ("m:g", "m:B"): "exact",
            ("m:g", "m:M.f"): "exact",
            ("m:k", "m:B"): "exact",
            ("m:k", "m:A.h"): "exact",
            ("m:l", "m:B"): "exact",
        },
    ),
    "methods of an enumeration's members": (
        "import enum\nfrom enum import Enum\nclass E(Enum):\n  X = 1\n  def f(self): pass\nclass Base(enum.IntEnum):\n"
        "  def f(self): pass\nclass F(Base):\n  Y = 1\ndef g(): E.X.f()\ndef h(): F.Y.f()",
        {
            ("m:F", "m:Base"): "exact",
            ("m:g", "m:E"): "exact",
            ("m:g", "m:E.f"): "typed",
            ("m:h", "m:F"): "exact",
            ("m:h", "m:Base.f"): "typed",
        },
    ),
    "a class that is its own base": ("class A(A): \n  def f(self): self.g()", {("m:A", "m:A"): "exact"}),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_one_file(tmp_path: Path, text: str, expected: dict) -> None:
    assert analysed(tmp_path, m=text) == expected


def test_imports(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        p___x="class A:\n  def f(self): pass\ndef h(): pass\n_hidden = 1",
        p_____init__="from .x import A as Renamed\nfrom p.x import *",
        p___q_____init__="",
        p___q___deep="from ..x import h\nfrom ... import nothing\ndef g(): h()",
        user="import p\nimport p.x as y\nfrom p import Renamed, h\nfrom other import A\n"
        "def a(): p.x.h()\ndef b(): y.A().f()\ndef c(): Renamed()\ndef d(): h()\ndef e(): A()",
        plain="from neighbour import z",
        neighbour="def z(): pass",
    )
    assert found == {
        ("p/__init__:", "p/x:A"): "exact",
        ("p/q/deep:", "p/x:h"): "exact",
        ("p/q/deep:g", "p/x:h"): "exact",
        ("user:", "p/x:A"): "exact",
        ("user:", "p/x:h"): "exact",
        ("user:a", "p/x:h"): "exact",
        ("user:b", "p/x:A"): "exact",
        ("user:b", "p/x:A.f"): "typed",
        ("user:c", "p/x:A"): "exact",
        ("user:d", "p/x:h"): "exact",
        ("plain:", "neighbour:z"): "exact",
    }


def test_reading_meets_the_getter_and_writing_the_setter(tmp_path: Path) -> None:
    text = CASES["property read, setter written"][0]
    (tmp_path / "m.py").write_text(text)
    project = analyse(tmp_path)
    lines = {
        (project.objects[r.source].name, project.objects[r.target].start_line)
        for r in project.references
        if project.objects[r.source].name != "p"
    }
    assert lines == {("g", 3), ("h", 5)}


PROPERTY = """class A:
  @property
  def p(self): pass
  @p.setter
  def p(self, v): pass
  @p.deleter
  def p(self): pass
  def read(self): return self.p
  def write(self): self.p = 1
  def change(self): self.p += 1
  def remove(self): del self.p, self.q
class B(A):
  @A.p.setter
  def p(self, v): pass
  def read(self): return self.p
  def write(self): self.p = 1
class C(B):
  def __init__(self): self.p = 2
class D(C):
  def read(self): return self.p
  def write(self): self.p = 1
"""


def test_each_access_to_a_property_meets_its_function(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(PROPERTY)
    project = analyse(tmp_path)
    lines: dict[str, set[int]] = {}
    for reference in project.references:
        source, target = project.objects[reference.source], project.objects[reference.target]
        if source.name != "p" and target.name == "p":
            lines.setdefault(source.qualified_name, set()).add(target.start_line)
    assert lines == {
        "A.read": {3},
        "A.write": {5},
        "A.change": {3, 5},
        "A.remove": {7},
        "B.read": {3},
        "B.write": {14},
        "C.__init__": {14},
        "D.read": {3},
        "D.write": {14},
    }


def test_an_imported_submodule_comes_before_a_function_of_its_name(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        p_____init__="def x(): pass",
        p___x="def q(): pass",
        m="import p.x\ndef g(): p.x.q()",
        n="from p import x\ndef g(): x()",
    )
    assert found == {("m:g", "p/x:q"): "exact", ("n:", "p/__init__:x"): "exact", ("n:g", "p/__init__:x"): "exact"}


def test_circular_imports_end(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        a="from b import *\nfrom b import f as g\ndef h(): f(); g()",
        b="from a import *\nfrom a import h as f",
    )
    assert found[("a:h", "a:h")] == "exact"


STARS = {
    "only what __all__ lists, also private": (
        {
            "a": "__all__ = ['f']\n__all__ += ['_h']\n__all__.extend(('k',))\n__all__.append('l')\n"
            "def f(): pass\ndef _h(): pass\ndef k(): pass\ndef l(): pass\ndef o(): pass",
            "m": "from a import *\ndef g(): f(), _h(), k(), l(), o()",
        },
        {("m:g", "a:f"), ("m:g", "a:_h"), ("m:g", "a:k"), ("m:g", "a:l")},
    ),
    "all that is not private without __all__, or with one that is computed": (
        {
            "a": "def f(): pass\ndef _h(): pass",
            "b": "__all__ = [x for x in 'k']\ndef k(): pass",
            "m": "from a import *\nfrom b import *\ndef g(): f(), _h(), k()",
        },
        {("m:g", "a:f"), ("m:g", "b:k")},
    ),
    "the last of two": (
        {
            "a": "def f(): pass",
            "b": "def f(): pass",
            "m": "from a import *\nfrom b import *\ndef g(): f()",
        },
        {("m:g", "b:f")},
    ),
    "a star after a definition, and one before": (
        {
            "a": "def f(): pass\ndef h(): pass",
            "m": "def f(): pass\nfrom a import *\ndef h(): pass\ndef g(): f(), h()",
        },
        {("m:g", "a:f"), ("m:g", "m:h")},
    ),
    "through another star, past a module that has it from here": (
        {
            "a": "def f(): pass\nfrom b import *\ndef h(): f(), k()",
            "b": "from a import *\nfrom c import *",
            "c": "def k(): pass",
        },
        {("a:h", "a:f"), ("a:h", "c:k")},
    ),
    "an __all__ that a function changes": (
        {
            "a": "__all__ = ['f']\ndef f(): pass\ndef k(): pass\ndef more(): __all__.append('k')\nmore()",
            "m": "from a import *\ndef g(): f(), k()",
        },
        {("a:", "a:more"), ("m:g", "a:f"), ("m:g", "a:k")},
    ),
    "a submodule that the package imports from": (
        {
            "p_____init__": "from p.q import *\nfrom p.r import h",
            "p___q": "def f(): pass",
            "p___r": "def h(): pass",
            "m": "from p import *\ndef g(): q.f(), r.h()",
        },
        {("p/__init__:", "p/r:h"), ("m:g", "p/q:f"), ("m:g", "p/r:h")},
    ),
    "a submodule that __all__ lists": (
        {"p_____init__": "__all__ = ['q']", "p___q": "def f(): pass", "m": "from p import *\ndef g(): q.f()"},
        {("m:g", "p/q:f")},
    ),
}


@pytest.mark.parametrize(("files", "expected"), STARS.values(), ids=STARS.keys())
def test_star_imports(tmp_path: Path, files: dict[str, str], expected: set) -> None:
    assert analysed(tmp_path, **files) == dict.fromkeys(expected, "exact")


def test_a_neighbour_is_imported_by_its_plain_name_only_from_scripts(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        p_____init__="",
        p___json="def loads(): pass",
        p___a="import json\ndef g(): json.loads()",
        scripts___csv="def reader(): pass",
        scripts___b="import csv\ndef g(): csv.reader()",
    )
    assert found == {("scripts/b:g", "scripts/csv:reader"): "exact"}


def test_a_relative_import_above_the_top_means_nothing(tmp_path: Path) -> None:
    found = analysed(
        tmp_path,
        z="def q(): pass",
        p_____init__="",
        p___a="from ..z import q\ndef g(): q()",
        p___b="from ...z import q\ndef g(): q()",
    )
    assert found == {}


def test_a_reference_counts_its_mentions_and_keeps_the_most_telling_kind(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("class A: pass\ndef g(a: A):\n  x = A\n  return A(), isinstance(a, A)\n")
    (reference,) = analyse(tmp_path).references
    assert (reference.kind.name, reference.mentions, reference.line) == ("CALL", 4, 2)


def test_names_inside_an_enormous_literal_are_left_out_and_listed(tmp_path: Path) -> None:
    rows = ", ".join(["f()"] * 100_000)
    (tmp_path / "m.py").write_text(f"def f(): pass\ndef g():\n  return [{rows}]\n")
    project = analyse(tmp_path)
    assert project.references == []
    assert [(problem.kind.value, problem.line) for problem in project.problems] == [("large_literal", 3)]


def test_a_chain_of_5000_subclasses_ends(tmp_path: Path) -> None:
    chain = "".join(f"class C{n}(C{n - 1}): pass\n" for n in range(1, 5000))
    (tmp_path / "m.py").write_text(
        f"def g(): C4999().f()\nclass C0:\n  def f(self): pass\n{chain}class D(C4999):\n  def h(self): self.f()\n"
    )
    found = edges(analyse(tmp_path))
    assert found["m:g", "m:C0.f"] == "typed"
    assert found["m:D.h", "m:C0.f"] == "exact"


def test_a_very_long_chain_and_deep_nesting_end(tmp_path: Path) -> None:
    chain = "A()" + ".f()" * 3000
    deep = "(" * 400 + "f" + ")" * 400
    (tmp_path / "m.py").write_text(
        f"class A:\n  def f(self): return self\ndef f(): pass\ndef g():\n  {chain}\ndef h():\n  {deep}\n"
        f"x = {' + '.join(['f()'] * 3000)}\n"
    )
    found = edges(analyse(tmp_path))
    assert ("m:g", "m:A") in found
    assert ("m:h", "m:f") in found
    assert ("m:", "m:f") in found
