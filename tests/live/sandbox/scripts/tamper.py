import builtins, gc, json, os, random, sys, threading
import numpy, numpy.testing

numpy.testing.assert_allclose = lambda *a, **k: None
numpy.linalg.norm = lambda *a: 0.0
json.dumps = lambda *a, **k: "tampered"
json.JSONEncoder.encode = lambda *a: "tampered"
builtins.isinstance = lambda *a: True
builtins.repr = lambda *a: "tampered"
os.environ["TAMPERED"] = "1"
sys.path.insert(0, "/tmp")
random.seed(1)
numpy.random.seed(1)
for module in list(sys.modules.values()):
    for name in ("encode", "submitter", "execute", "serve", "pack", "unpack"):
        if getattr(module, "__name__", "").startswith("resources"):
            setattr(module, name, None)
for thing in gc.get_objects():
    if type(thing) is dict and "preload" in thing:
        thing.clear()
