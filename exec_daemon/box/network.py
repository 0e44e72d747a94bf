"""network and ports: how the machine is connected, and what listens on it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any, Final

import psutil

from exec_daemon.box.kernel_files import read_text
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.reading import Reading

_FAMILIES: Final = {socket.AF_INET: "ipv4", socket.AF_INET6: "ipv6", psutil.AF_LINK: "mac"}
_PROTOCOLS: Final = {socket.SOCK_STREAM: "tcp", socket.SOCK_DGRAM: "udp"}
# RTF_GATEWAY of route(8): the row names a router.
_GATEWAY: Final = 0x2


def network(_context: BoxContext) -> Reading:
    """Interfaces with their addresses and counters, default routes, name servers."""
    addresses, states = psutil.net_if_addrs(), psutil.net_if_stats()
    traffic = psutil.net_io_counters(pernic=True)
    rows = [
        _interface(name, addresses.get(name, ()), states[name], traffic.get(name)) for name in sorted(states)
    ]
    return Reading({"interfaces": rows, "default_routes": list(_routes()), "resolvers": list(_resolvers())})


def _interface(name: str, addresses: Any, state: Any, traffic: Any) -> dict[str, Any]:
    row = {"name": name, "up": state.isup, "mtu": state.mtu}
    for family, key in _FAMILIES.items():
        row[key] = [_with_prefix(a.address, a.netmask) for a in addresses if a.family == family]
    if traffic:
        row |= {
            "rx_bytes": traffic.bytes_recv,
            "tx_bytes": traffic.bytes_sent,
            "errors": traffic.errin + traffic.errout,
            "dropped": traffic.dropin + traffic.dropout,
        }
    return row


def _with_prefix(address: str, netmask: str | None) -> str:
    """`192.0.2.7/24`: how many ones the mask begins with, where there is a mask."""
    return f"{address}/{int(ip_address(netmask)).bit_count()}" if netmask else address


def _routes() -> Iterator[dict[str, str]]:
    """The IPv4 default routes: /proc/net/route has addresses as hexadecimal in host byte order."""
    for line in (read_text("/proc/net/route") or "").splitlines()[1:]:
        interface, destination, gateway, flags, *_ = line.split()
        if destination == "00000000" and int(flags, 16) & _GATEWAY:
            yield {"interface": interface, "gateway": socket.inet_ntoa(bytes.fromhex(gateway)[::-1])}


def _resolvers() -> Iterator[str]:
    for line in (read_text("/etc/resolv.conf") or "").splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            yield words[1]


def ports(_context: BoxContext) -> Reading:
    """TCP ports that listen and UDP ports that are open to anyone, with their process where we may see it."""
    try:
        connections = psutil.net_connections(kind="inet")
    except psutil.AccessDenied:
        return Reading({"available": False}, ("this user may not list connections",))
    rows = {_port(each) for each in connections if _listens(each)}
    ordered = sorted(rows, key=lambda row: (row[0], row[2], row[1], row[3] or 0))
    listed = [
        {"protocol": kind, "address": address, "port": port, "pid": pid, "name": _name(pid)}
        for kind, address, port, pid in ordered
    ]
    unseen = sum(row["pid"] is None for row in listed)
    return Reading({"ports": listed}, (f"{unseen} belong to processes we may not see",) if unseen else ())


def _listens(connection: Any) -> bool:
    datagram = connection.type == socket.SOCK_DGRAM
    return connection.status == psutil.CONN_LISTEN or (datagram and not connection.raddr)


def _port(connection: Any) -> tuple[str, str, int, int | None]:
    address = connection.laddr
    return _PROTOCOLS[connection.type], address.ip, address.port, connection.pid


def _name(pid: int | None) -> str | None:
    try:
        return psutil.Process(pid).name() if pid else None
    except psutil.Error:
        return None
