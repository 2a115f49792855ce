import json
import socket

task = json.load(open("task.json"))
reached = []


def attempt(name, action, *arguments):
    try:
        action(*arguments)
        reached.append(name)
    except (OSError, ValueError):
        pass


def tcp(address, port, family=socket.AF_INET):
    connection = socket.socket(family)
    connection.settimeout(1)
    connection.connect((address, port))


def udp(address, port):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, port))


def local(path):
    socket.socket(socket.AF_UNIX).connect(path)


for address in ("127.0.0.1", task["own"], "10.0.0.1", "172.17.0.1", "192.168.0.1", "8.8.8.8", "169.254.169.254"):
    attempt("tcp " + address, tcp, address, task["tcp"])
    attempt("http " + address, tcp, address, 80)
for address in ("::1", "fd00:ec2::254", "2001:4860:4860::8888"):
    attempt("tcp " + address, tcp, address, task["tcp"], socket.AF_INET6)
for address in (task["own"], "10.0.0.1", "8.8.8.8"):
    attempt("udp " + address, udp, address, task["udp"])
try:
    udp("127.0.0.1", task["udp"])  # on its own loopback it may send to nobody: the host's server tells
except OSError:
    pass
attempt("dns", socket.getaddrinfo, "pypi.org", 443)
attempt("abstract", local, chr(0) + task["abstract"])
for path in (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/systemd/private",
    "/run/dbus/system_bus_socket",
    "/tmp/.X11-unix/X0",
):
    attempt(path, local, path)
attempt("raw", socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
for name, family in (("packet", 17), ("netlink", 16), ("vsock", 40), ("alg", 38), ("bluetooth", 31), ("can", 29)):
    attempt(name, socket.socket, family, socket.SOCK_DGRAM)
submit(reached)
