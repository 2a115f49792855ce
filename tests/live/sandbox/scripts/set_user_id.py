import os
import subprocess
import time

gained, tried = [], 0
for top in ("/bin", "/usr/bin", "/usr/sbin", "/usr/lib"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
            except OSError:
                continue
            if not mode & 0o6000 or not os.access(path, os.X_OK):
                continue
            nothing = subprocess.DEVNULL
            process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)
            tried += 1
            for _ in range(3):  # the rights change a moment after the new program counts as started
                time.sleep(0.01)
                for line in open(f"/proc/{process.pid}/status"):
                    if line.startswith(("Uid:", "Gid:")) and len(set(line.split()[1:])) > 1:
                        gained.append((path, line))
            process.kill()
            process.wait()
submit((gained, tried))
