# Run by init after GUEST-READY: asks for an address on every Ethernet card, once.
ip link set lo up
for card in /sys/class/net/eth*; do
    [ -e "$card" ] || continue
    ip link set "${card##*/}" up
    udhcpc -i "${card##*/}" -q -n -t 5 -T 1 >/dev/null 2>&1
done
