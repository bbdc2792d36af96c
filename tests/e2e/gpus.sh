# SPDX-License-Identifier: GPL-3.0-or-later
# The load of NVIDIA's gpus comes from nvidia-smi, and a worker whose gpus are busy gets jobs only when all others are busy, too.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
mkdir fake
cat >fake/nvidia-smi <<'END_FAKE'
#!/bin/sh
[ "$*" = "--query-gpu=utilization.gpu --format=csv,noheader,nounits" ] && printf '4\n93\n'
END_FAKE
chmod +x fake/nvidia-smi
PATH=$PWD/fake:$PATH "$TITAN" worker start --name gpu --slots 4 >gpu.log 2>&1 </dev/null &
worker=$!
busy() { [ "$(titan --json worker ls | jq '.[] | select(.name == "gpu") | .gpu_permille')" = 930 ]; }
ok "the worker tells the load of its busiest gpu" until_true 60 busy
is "others have none" "$(titan --json worker ls | jq '.[] | select(.name == "local") | .gpu_permille')" 0
exits "jobs" 0 titan --timeout 60s run -w -e "a*3; a='echo \$TITAN_WORKER'"
is "go to a worker that isn't overloaded" "$(for i in 0 1 2; do titan logs "last/a[$i]"; done | sort -u)" local
kill "$worker"
wait "$worker" 2>/dev/null
done_testing
