"""What runs inside the sandbox: standard library only, copied or mounted read-only, one warm supervisor a worker.

* `supervisor` imports the environment's packages once and forks a warden for each execution; it never sees the code.
* `warden` is trusted and keeps the few capabilities that it needs: it prepares one execution, watches it, ends it.
* `child` gives up everything, then runs the model's code.
"""
