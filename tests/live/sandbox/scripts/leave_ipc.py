import ctypes

libc = ctypes.CDLL(None, use_errno=True)
made = []
if libc.shmget(1234, 4096, 0o1666) >= 0:
    made.append("shared memory")
if libc.semget(1234, 1, 0o1666) >= 0:
    made.append("semaphore")
if libc.msgget(1234, 0o1666) >= 0:
    made.append("queue")
if libc.mq_open(b"/queue", 0o102, 0o666, None) >= 0:
    made.append("POSIX queue")
try:
    open("/dev/mqueue/x", "w").close()
    made.append("file of a POSIX queue")
except OSError:
    pass
submit(made)
