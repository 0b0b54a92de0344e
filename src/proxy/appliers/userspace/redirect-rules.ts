/**
 * The few nftables rules of the userspace proxy, if it may have some: packets to the addresses of Services are redirected to its listening
 * ports; those of Services without endpoints are rejected or dropped. One table per owner, replaced as a whole in one transaction. Pure.
 */
export interface Redirect {
  readonly family: 4 | 6;
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
  /** True: only for Pods of the bridge and this machine. */
  readonly isInternal: boolean;
  readonly action: { readonly to: number } | "reject" | "drop";
}

export interface RedirectRules {
  readonly owner: string;
  readonly podBridge?: string | undefined;
  readonly redirects: readonly Redirect[];
  /** Node ports whose packets are dropped: "tcp . 30080". */
  readonly droppedNodePorts: readonly string[];
}

export function tableName(owner: string): string {
  return `k8ts-${owner}-userspace`;
}

/** Deletes the table, whether it exists or not. */
export function deletionText(owner: string): string {
  const table = `table inet ${tableName(owner)}`;
  return `${table}\ndelete ${table}\n`;
}

const TYPES = { 4: "ipv4_addr", 6: "ipv6_addr" } as const;
const ADDRESSES = { 4: "ip daddr", 6: "ip6 daddr" } as const;
const FAMILIES = [4, 6] as const;

/** Replaces the table. */
export function tableText({ owner, podBridge, redirects, droppedNodePorts }: RedirectRules): string {
  const lines = [
    ...FAMILIES.flatMap((family) => setsOf(family, redirects)),
    ...FAMILIES.map((family) => set(`service-ips${family}`, TYPES[family], clusterIps(family, redirects))),
    // Only redirected packets may reach the listening ports of redirects.
    set("own-ports", "inet_proto . inet_service", ownPorts(redirects)),
    set("dropped-node-ports", "inet_proto . inet_service", droppedNodePorts),
    ...chains(podBridge === undefined ? "" : `iifname "${podBridge}" `),
  ];
  return `${deletionText(owner)}table inet ${tableName(owner)} {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
}

function setsOf(family: 4 | 6, redirects: readonly Redirect[]): readonly string[] {
  const type = `${TYPES[family]} . inet_proto . inet_service`;
  return [true, false].flatMap((isInternal) => {
    const own = redirects.filter((one) => one.family === family && one.isInternal === isInternal);
    const suffix = `${family}-${scopeOf(isInternal)}`;
    const mapped = own.flatMap((one) => (typeof one.action === "string" ? [] : [`${elementOf(one)} : ${one.action.to}`]));
    const having = (action: Redirect["action"]) => own.filter((one) => one.action === action).map(elementOf);
    return [
      `map redirect${suffix} { type ${type} : inet_service; ${elements(mapped)}}`,
      set(`reject${suffix}`, type, having("reject")),
      set(`drop${suffix}`, type, having("drop")),
    ];
  });
}

function clusterIps(family: 4 | 6, redirects: readonly Redirect[]): readonly string[] {
  return redirects.flatMap((one) => (one.isInternal && one.family === family ? [one.address] : []));
}

function scopeOf(isInternal: boolean): string {
  return isInternal ? "internal" : "external";
}

function elementOf({ address, protocol, port }: Redirect): string {
  return `${address} . ${protocol} . ${port}`;
}

function set(name: string, type: string, members: readonly string[]): string {
  return `set ${name} { type ${type}; ${elements(members)}}`;
}

function elements(members: readonly string[]): string {
  return members.length === 0 ? "" : `elements = { ${[...new Set(members)].join(", ")} } `;
}

function ownPorts(redirects: readonly Redirect[]): readonly string[] {
  return redirects.flatMap(({ protocol, action }) => (typeof action === "string" ? [] : [`${protocol} . ${action.to}`]));
}

/** A TCP reset is sent at any rate; the kernel limits ICMP errors to a few per second and client. */
const REJECTIONS = ["meta l4proto tcp reject with tcp reset", "reject with icmpx port-unreachable"] as const;
const VERDICTS = [...REJECTIONS.map((verdict) => ({ set: "reject", verdict })), { set: "drop", verdict: "drop" }] as const;

/** `internal`: which packets of other hosts may use cluster IPs. */
function chains(internal: string): readonly string[] {
  const key = (family: 4 | 6) => `${ADDRESSES[family]} . meta l4proto . th dport`;
  const redirect = (family: 4 | 6, isInternal: boolean, match: string) =>
    `${match}meta nfproto ipv${family} meta l4proto { tcp, udp } redirect to :${key(family)} map @redirect${family}-${scopeOf(isInternal)}`;
  const verdicts = (match: string) =>
    FAMILIES.flatMap((family) =>
      [true, false].flatMap((isInternal) =>
        VERDICTS.map(
          ({ set: name, verdict }) => `${isInternal ? match : ""}${key(family)} @${name}${family}-${scopeOf(isInternal)} ${verdict}`,
        ),
      ),
    );
  const nat = (match: string) => FAMILIES.flatMap((family) => [redirect(family, true, match), redirect(family, false, "")]);
  // Ports that the Service does not have: the packet would leave the node by its default route, where another machine may answer it.
  const otherPorts = (match: string) =>
    FAMILIES.flatMap((family) => REJECTIONS.map((verdict) => `${match}ct state new ${ADDRESSES[family]} @service-ips${family} ${verdict}`));
  const dropNodePorts = "fib daddr type local meta l4proto . th dport @dropped-node-ports drop";
  return [
    chain("prerouting", "type nat hook prerouting priority dstnat", nat(internal)),
    chain("output", "type nat hook output priority -100", nat("")),
    chain("input-filter", "type filter hook input priority filter", [
      "meta l4proto . th dport @own-ports ct status & dnat != dnat drop",
      dropNodePorts,
      ...verdicts(internal),
    ]),
    chain("forward-filter", "type filter hook forward priority filter", [...verdicts(internal), ...otherPorts(internal)]),
    chain("output-filter", "type filter hook output priority filter", [...verdicts(""), ...otherPorts("")]),
  ];
}

function chain(name: string, hook: string, rules: readonly string[]): string {
  return `chain ${name} { ${hook}; policy accept;\n${rules.map((rule) => `    ${rule}\n`).join("")}  }`;
}
