import os

for place in ("/scratch", "/tmp", "/dev/shm"):
    os.makedirs(place + "/.hidden/a/b")
    open(place + "/.hidden/a/b/\n\udc80", "w").close()
    os.mkfifo(place + "/pipe")
    os.symlink("/etc", place + "/etc")
    os.chmod(place + "/.hidden/a/b", 0)
    os.chmod(place + "/.hidden", 0)
    try:
        os.chmod(place, 0)
    except PermissionError:
        pass
