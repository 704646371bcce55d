#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A Slurm cluster on this machine: one controller and four nodes on ports of the loopback, with keys,
# sockets and state in one folder.
#
#   tests/farm/cluster.sh up DIR        start; prints nothing; DIR/env is to be sourced
#   tests/farm/cluster.sh kill DIR N    node N ends as if its machine had gone: slurmd, its steps and their children
#   tests/farm/cluster.sh down DIR      end everything that `up` started
#
# Exit status 77: slurm-wlm or munge is not installed; 1: it does not start, and its logs are shown.
set -u
PATH=$PATH:/usr/sbin:/sbin
what=$1
dir=$(realpath -m "$2")

nodes="n1 n2 n3 n4"

# A port of the loopback that nobody listens on.
ports() {
	python3 -c '
import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for x in s:
    x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))' "$1"
}

configure() {
	read -r control p1 p2 p3 p4 <<<"$(ports 5)"
	host=$(hostname -s)
	user=$(id -un)
	cat >"$dir/slurm.conf" <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$control
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=6
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmctldTimeout=30
SlurmdTimeout=5
MinJobAge=30
KillWait=2
InactiveLimit=0
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,sched_interval=2,bf_interval=2
RebootProgram=/bin/true
END
	local i=0 port
	for port in $p1 $p2 $p3 $p4; do
		i=$((i + 1))
		echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=1 RealMemory=500 State=UNKNOWN"
	done >>"$dir/slurm.conf"
	echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$dir/slurm.conf"
	echo "export SLURM_CONF='$dir/slurm.conf'" >"$dir/env"
}

up() {
	local tool n
	for tool in slurmctld slurmd munged sbatch squeue sinfo; do
		command -v $tool >/dev/null || { echo "$tool is not installed (slurm-wlm, munge)"; exit 77; }
	done
	# munged wants folders that nobody else can write, and Slurm takes no other names in its configuration.
	mkdir -m 711 -p "$dir" && mkdir -m 700 -p "$dir/munge" "$dir/state" || exit 1
	configure
	(umask 077; head -c 64 /dev/urandom >"$dir/munge/key")
	munged --force --key-file "$dir/munge/key" --socket "$dir/munge.socket" --pid-file "$dir/munge/pid" --log-file "$dir/munge/log" \
		--seed-file "$dir/munge/seed" || exit 1
	export SLURM_CONF=$dir/slurm.conf
	slurmctld -D -i >"$dir/slurmctld.out" 2>&1 &
	echo $! >"$dir/slurmctld.process"
	for n in $nodes; do
		mkdir -p "$dir/spool-$n"
		# A session of its own, so that `kill` finds all that the node has started.
		setsid slurmd -D -N $n >"$dir/slurmd-$n.out" 2>&1 &
		echo $! >"$dir/slurmd-$n.process"
	done
	for _ in $(seq 300); do
		[ "$(sinfo -h -o %t -N 2>/dev/null | grep -c '^idle$')" = 4 ] && return 0
		sleep 0.2
	done
	echo "the cluster does not come up:" >&2
	tail -n 20 "$dir"/*.out "$dir"/*.log "$dir/munge/log" >&2
	down
	exit 1
}

# All processes below the process $1, and itself.
family() {
	local child
	for child in $(ps -o pid= --ppid "$1"); do
		family "$child"
	done
	echo "$1"
}

# What jobs on node $1 of this cluster have started: their environment says where they are.
of_jobs() {
	local p
	for p in $(grep -lzs "^SLURMD_NODENAME=$1\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qFx "SLURM_CONF=$dir/slurm.conf" && echo "$p"
	done
}

# slurmstepd is no child of slurmd's, but the jobs' processes are its children. It goes first, so that it reports nothing.
gone() {
	local p parent jobs
	kill -KILL $(family "$(cat "$dir/slurmd-$1.process")") 2>/dev/null
	jobs=$(of_jobs "$1")
	for p in $jobs; do
		parent=$(ps -o ppid= -p "$p" | tr -d ' ')
		[ "$(ps -o comm= -p "${parent:-0}" 2>/dev/null)" = slurmstepd ] && kill -KILL "$parent"
	done
	[ -z "$jobs" ] || kill -KILL $jobs 2>/dev/null
	return 0
}

down() {
	local n
	for n in $nodes; do
		[ -f "$dir/slurmd-$n.process" ] && gone $n
	done
	[ -f "$dir/slurmctld.process" ] && kill -KILL $(family "$(cat "$dir/slurmctld.process")") 2>/dev/null
	[ -f "$dir/munge/pid" ] && kill "$(cat "$dir/munge/pid")" 2>/dev/null
	return 0
}

case $what in
up) up ;;
kill) gone "$3" ;;
down) down ;;
*) echo "cluster.sh: up, kill or down, not '$what'" >&2; exit 2 ;;
esac
