"""A second, naive BLESS router in Python, written from the paper's description alone."""

import math
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Packet:
    """A packet to send. ``bits``: for each dimension, whether - is preferred if both directions are equally short."""

    src: int
    id: int  # in a trace, the line
    dst: int
    due: int
    flits: int
    needs: int | None = None  # a line of the trace
    bits: tuple = ()
    created: int | None = None
    injected: int | None = None

    @property
    def name(self):
        return self.src, self.id


@dataclass
class Flit:
    packet: Packet
    number: int
    hops: int = 0

    def age(self):
        return self.packet.injected, self.packet.src, self.packet.id, self.number


@dataclass
class Terminal:
    to_create: list
    waiting: list = field(default_factory=list)  # packets created; the first is being injected
    begun: int = 0  # injected flits of the first packet
    created: int = 0
    sent: int = 0
    received: int = 0
    partial: dict = field(default_factory=dict)  # packets in reassembly: name -> flits that have not arrived


class Naive:
    """FLIT-BLESS, oldest first: all rules of a cycle in order, router by router."""

    def __init__(self, torus, shape, packets, delay, channel_delay, ejection_width, reassembly_slots):
        self.torus, self.shape = torus, shape
        self.delay, self.channel_delay, self.ejection_width = delay, channel_delay, ejection_width
        self.routers = math.prod(shape)
        self.ports = 2 * len(shape)
        self.neighbour = [{p: self.next_to(r, p) for p in range(self.ports)} for r in range(self.routers)]
        self.neighbour = [{p: n for p, n in ports.items() if n is not None} for ports in self.neighbour]
        channels = sum(map(len, self.neighbour))
        self.reassembly_slots = channels * (delay + channel_delay) + self.routers - 1 if reassembly_slots == "auto" else reassembly_slots
        self.terminals = [Terminal([p for p in packets if p.src == r]) for r in range(self.routers)]
        self.inboxes = [{} for _ in range(self.routers)]  # inbox of each router: (cycle, port) -> flit
        self.arrived_at = {}  # id of a trace's packet -> cycle in which its last flit arrives at its terminal
        self.carried = Counter()
        self.totals = Counter()
        self.events = Counter()
        self.cycle = 0

    def coordinates_of(self, router):
        where = []
        for k in self.shape:
            where.append(router % k)
            router //= k
        return where

    def next_to(self, router, port):
        where, dim = self.coordinates_of(router), port // 2
        if self.shape[dim] == 1:
            return None
        where[dim] += -1 if port % 2 else 1
        if self.torus:
            where[dim] %= self.shape[dim]
        elif not 0 <= where[dim] < self.shape[dim]:
            return None
        return sum(x * math.prod(self.shape[:d]) for d, x in enumerate(where))

    def productive(self, router, packet):
        """Returns the productive channels of a packet, the preferred one first."""
        ports = []
        for dim, (here, there) in enumerate(zip(self.coordinates_of(router), self.coordinates_of(packet.dst), strict=True)):
            plus, minus = 2 * dim, 2 * dim + 1
            if here == there:
                continue
            if not self.torus:
                ports.append(plus if there > here else minus)
                continue
            k = self.shape[dim]
            up, down = (there - here) % k, (here - there) % k
            if up < down:
                ports.append(plus)
            elif down < up:
                ports.append(minus)
            else:
                ports += [minus, plus] if packet.bits[dim] else [plus, minus]
        return ports

    def step(self):
        self.events = Counter()
        for router in range(self.routers):
            self.step_router(router)
        self.cycle += 1

    def step_router(self, router):
        now, terminal = self.cycle, self.terminals[router]
        came_by = {}
        here = []
        for port in range(self.ports):
            flit = self.inboxes[router].pop((now, port), None)
            if flit:
                came_by[id(flit)] = port
                here.append(flit)
                self.note("arrived", router, port, 0, flit)
        here.sort(key=Flit.age)

        ejected = []
        for flit in here:
            if flit.packet.dst == router and len(ejected) < self.ejection_width:
                if self.has_room(terminal, flit.packet):
                    ejected.append(flit)
                    self.eject(router, terminal, flit)
                    self.note("switch_granted", router, came_by[id(flit)], self.ports, flit)
                else:
                    self.totals["ejections_refused"] += 1
        here = [flit for flit in here if flit not in ejected]

        self.create(router, terminal)
        if terminal.waiting:
            if len(here) < len(self.neighbour[router]):
                flit = self.inject(router, terminal)
                came_by[id(flit)] = self.ports
                self.note("arrived", router, self.ports, 0, flit)
                here.append(flit)
            else:
                self.totals["injections_blocked"] += 1

        here.sort(key=Flit.age)
        free = dict(self.neighbour[router])
        for flit in here:
            productive = self.productive(router, flit.packet)
            others = [(now + i) % self.ports for i in range(self.ports)]
            port = next(p for p in productive + others if p in free)
            self.totals["deflections"] += port not in productive
            self.totals["flits_sent"] += 1
            self.totals["flit_moves"] += 1
            self.carried[router, port] += 1
            self.note("switch_granted", router, came_by[id(flit)], port, flit)
            flit.hops += 1
            self.inboxes[free.pop(port)][now + self.delay + self.channel_delay, port ^ 1] = flit

    def has_room(self, terminal, packet):
        return packet.flits == 1 or packet.name in terminal.partial or len(terminal.partial) < self.reassembly_slots

    def eject(self, router, terminal, flit):
        packet, at = flit.packet, self.cycle + self.delay
        left = terminal.partial.pop(packet.name, packet.flits) - 1
        self.totals["flits_delivered"] += 1
        self.totals["flit_moves"] += 1
        if left:
            terminal.partial[packet.name] = left
            self.totals["reassembly_most"] = max(self.totals["reassembly_most"], len(terminal.partial))
            return
        terminal.received += 1
        self.arrived_at[packet.id] = at
        self.totals["packets_delivered"] += 1
        self.totals["latency_sum"] += at - packet.created
        self.totals["last_delivery"] = max(self.totals["last_delivery"], at)
        self.events[("delivered", router, 0, 0) + packet.name] += 1

    def create(self, router, terminal):
        """Creates packets. One that depends on another is created in the cycle after its arrival; later ones of the
        source wait."""
        while terminal.to_create:
            packet = terminal.to_create[0]
            if packet.due > self.cycle:
                return
            if packet.needs is not None and self.arrived_at.get(packet.needs, self.cycle) >= self.cycle:
                return
            terminal.waiting.append(terminal.to_create.pop(0))
            packet.created = self.cycle
            terminal.created += 1
            self.totals["packets_created"] += 1
            self.totals["flits_created"] += packet.flits
            self.events[("created", router, 0, 0) + packet.name] += 1

    def inject(self, router, terminal):
        packet = terminal.waiting[0]
        flit = Flit(packet, terminal.begun)
        if flit.number == 0:
            packet.injected = self.cycle
            terminal.sent += 1
            self.totals["packets_injected"] += 1
            self.events[("injected", router, self.ports, 0) + packet.name] += 1
        terminal.begun += 1
        self.totals["flits_injected"] += 1
        if terminal.begun == packet.flits:
            terminal.waiting.pop(0)
            terminal.begun = 0
        return flit

    def note(self, kind, router, port, out_port, flit):
        self.events[(kind, router, port, out_port) + flit.packet.name] += 1
