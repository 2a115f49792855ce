#!/usr/bin/env bash
# A Docker engine and a base image on a Debian machine that has neither and cannot pull images: for CI, as root.
# Quick when all is there already. Prints the name of the base image on its last line.
#
#   CONDMAT_SANDBOX_BASE=$(resources/sandbox/engine.sh | tail -1) python -m resources.sandbox.build
set -euo pipefail

base=condmat-evals-base:bookworm
cache=${CONDMAT_DATA:-data}/environments/$base.tar
log=/var/log/dockerd-condmat.log

step() { echo "engine.sh: $*" >&2; }

install() {
  step "installing $*"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# dockerd does not start while the file names a process that exists, be it a zombie or somebody else by now.
forget_killed_engine() {
  local file pid
  for file in /var/run/docker.pid /var/run/docker/containerd/containerd.pid; do
    pid=$(cat "$file" 2>/dev/null) || continue
    case $(ps -o stat=,comm= -p "$pid" 2>/dev/null) in
      Z* | "") rm -f "$file" ;;
      *dockerd* | *containerd*) ;;
      *) rm -f "$file" ;;
    esac
  done
}

start_engine() {
  docker info >/dev/null 2>&1 && return
  command -v dockerd >/dev/null || install docker.io
  forget_killed_engine
  step "starting dockerd (no bridge: containers have no network anyway); its log is $log"
  nohup setsid dockerd --iptables=false --ip6tables=false --bridge=none >>"$log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    docker info >/dev/null 2>&1 && return
    sleep 1
  done
  step "dockerd did not start within 60 s; the end of $log:"
  tail -5 "$log" >&2
  return 1
}

make_base() {
  docker image inspect "$base" >/dev/null 2>&1 && return
  if [ ! -f "$cache" ]; then
    command -v debootstrap >/dev/null || install debootstrap
    step "making a Debian base image (one to two minutes, cached in $cache)"
    mkdir -p "$(dirname "$cache")"
    local root
    root=$(mktemp -d)
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" >>"$log" 2>&1 || { tail -5 "$log" >&2; return 1; }
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    # The machine's own certificates, for registries that it reaches through a proxy.
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    tar -C "$root" -cf "$cache.new" .
    mv "$cache.new" "$cache"
    rm -rf "$root"
  fi
  docker import --change "ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt" "$cache" "$base" >/dev/null
}

start_engine
make_base
echo "$base"
