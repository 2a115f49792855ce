import json
import os

task = json.load(open("task.json"))
opened = []
for path in task["paths"]:
    for way in (path, "/proc/1/root" + path, "/proc/self/root" + path, "../../../../../../.." + path):
        try:
            if os.path.isdir(way):
                os.listdir(way)
            else:
                open(way, "rb").read()
            opened.append(way)
        except OSError:
            pass
found = []
for folder, folders, names in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys")]
    found += [os.path.join(folder, name) for name in names if name in task["names"]]
submit((opened, found))
