import os
import socket

open("plain.txt", "w").write("plain")
os.makedirs("sub")
open("sub/plain.txt", "w").write("plain")
os.symlink("/etc/passwd", "link.txt")
os.symlink("/", "root")
os.symlink("../../../etc/passwd", "sub/up")
os.link("plain.txt", "first.txt")
os.rename("first.txt", "hard.txt")
os.remove("plain.txt")
open("plain.txt", "w").write("plain")
os.link("hard.txt", "hard2.txt")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
open("new\nline", "w").write("x")
open("\x1b[31m", "w").write("x")
open(b"\xff\xfe", "w").write("x")
open("n" * 255, "w").write("x")
open("secret", "w").write("x")
os.chmod("secret", 0)
os.mkdir("locked")
open("locked/x", "w").write("x")
os.chmod("locked", 0)
open("huge", "wb").truncate(8 << 20)
os.makedirs("/".join("d" * 20))
try:
    os.mknod("device", 0o60666, os.makedev(7, 0))
except PermissionError:
    pass
