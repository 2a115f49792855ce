"""Answering functions that cheat, by what they try. `NAMES` holds the names of the properties asked for."""

from __future__ import annotations

HOSTILE = {
    "prints the verdict": "print('ok')\n    return {}",
    "returns a generator": "return (pair for pair in [('density', 2.16373)])",
    "returns generators": "return {name: (1.0 for _ in iter(int, 1)) for name in NAMES}",
    "lies about equality": """class Lie(float):
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __sub__(self, other): return 0.0
        def __rsub__(self, other): return 0.0
        def __abs__(self): return 0.0
        __hash__ = float.__hash__
    return {name: Lie(9) for name in NAMES}""",
    "lies about its class": """class Lie:
        def __init__(self, real): self.real = real
        __class__ = property(lambda self: self.real)
        def __eq__(self, other): return True
        def __float__(self): return 2.16373
        def __len__(self): return 2
        def __iter__(self): return iter(('Na', 'Cl'))
        def __array__(self, *a, **k):
            import numpy
            return numpy.array(2.16373)
        __hash__ = None
    return {name: Lie(real) for name, real in zip(NAMES, (float, list, int, str) * len(NAMES))}""",
    "describes itself as another object": """class Lie:
        def as_dict(self): return {'@module': 'builtins', '@class': 'float', 'value': 2.16373}
        def __reduce__(self): return (float, (2.16373,))
    return {name: Lie() for name in NAMES}""",
    "is a false dictionary": """class False_(dict):
        def items(self): return [(name, True) for name in NAMES]
        def __getitem__(self, key): return 8
        def __contains__(self, key): return True
    return False_()""",
    "returns NaN": "return {name: float('nan') for name in NAMES}",
    "returns infinities": "return {name: float('-inf') for name in NAMES} | {NAMES[0]: float('inf')}",
    "returns itself": "loop = {}\n    loop.update({name: loop for name in NAMES})\n    return loop",
    "returns bottomless lists": """deep = []
    for _ in range(100_000): deep = [deep]
    return {name: deep for name in NAMES}""",
    "returns a huge array": "import numpy\n    return {name: numpy.ones((4096, 4096)) for name in NAMES}",
    "returns a huge number": "return {name: 10**10_000_000 for name in NAMES}",
    "returns true": "return {name: True for name in NAMES}",
    "equals anything": "from unittest.mock import ANY\n    return {name: ANY for name in NAMES}",
    "patches numpy": """import numpy
    numpy.abs = numpy.isfinite = numpy.allclose = numpy.isclose = lambda *_, **__: numpy.array(True)
    numpy.testing.assert_allclose = lambda *_, **__: None
    return {name: 0 for name in NAMES}""",
    "patches builtins": """import builtins
    builtins.isinstance = lambda *_: True
    builtins.len = lambda _: 1
    builtins.abs = builtins.all = lambda *_: 0
    return {name: 0 for name in NAMES}""",
    "patches the encoder": """import json
    json.JSONEncoder.encode = lambda *_: '{"t":"eval","v":"True"}'
    return {name: 1 for name in NAMES}""",
    "patches the comparison": """import sys, types
    for name in ('verification', 'typed_values', 'reference', 'mattools_assets.verification.comparison'):
        module = types.ModuleType(name)
        module.compare = module.decode = module.verdict = lambda *_, **__: {'ok': True}
        sys.modules[name] = module
        try:
            open(name.rpartition('.')[2] + '.py', 'w').write('def test_cell(_): return "ok"')
        except OSError:
            pass
    return {name: 1 for name in NAMES}""",
    "leaves a trap for the next": """import os, site, sys
    text = 'import numpy; numpy.allclose = lambda *_, **__: True'
    for place in {*sys.path, site.getusersitepackages(), '.', '/tmp', os.path.expanduser('~')}:
        for name in ('sitecustomize.py', 'usercustomize.py', 'numpy.py', 'x.pth'):
            try:
                open(os.path.join(place, name), 'w').write(text)
            except OSError:
                pass
    return {name: 1 for name in NAMES}""",
    "looks for the verification": """import gc, glob, importlib.util, inspect, sys
    places = {*sys.path, '/scratch', '/tmp', '/home', '/root', '/srv', '/opt', '.'}
    patterns = ('*/questions', '*.yaml', 'verification.py', 'reference.py', 'answer.json')
    files = [path for place in places for pattern in patterns for path in glob.glob(f'{place}/{pattern}')]
    packages = [name for name in ('mattools_assets', 'cme_assets') if importlib.util.find_spec(name)]
    names = [list(frame.frame.f_locals) for frame in inspect.stack()]
    known = [d for d in gc.get_objects() if type(d) is dict and 'expected_properties' in d]
    return {name: (files, packages, len(known)) for name in NAMES}""",
    "writes its own result": """import os
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b'{"density": 2.16373}\\n' * 100)
        except OSError:
            pass
    return {}""",
    "leaves": "import os\n    os._exit(0)",
    "goes on after its end": """import os, threading, time
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(0.1)
    threading.Thread(target=lambda: time.sleep(1e6)).start()
    return {}""",
}


def hostile_source(name: str, properties: tuple[str, ...]) -> str:
    """A function `hostile` that tries it."""
    return f"NAMES = {list(properties)!r}\n\ndef hostile():\n    {HOSTILE[name]}\n"
