import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseMounts } from "../../../host/kernel/mount-table.ts";
import { parseRoutes } from "../../../host/network/network-links.ts";
import { apiServerRule } from "./api-server-access.ts";
import { bridgeName, claimedRanges, pluginRules, rulesOf, servicesChain, unusedHostPortRules } from "./bridge-network.ts";
import { cniConfiguration, cniFileName } from "./cni-configuration.ts";
import { deletionOf, wordsOf } from "./rule-arguments.ts";

describe("bridgeName", () => {
  test("is short, stable, and distinct per cluster name and location", () => {
    const name = bridgeName({ name: "a-rather-long-cluster", directory: "/data/x" });
    match(name, /^k8-arath-[0-9a-f]{6}$/);
    equal(name, bridgeName({ name: "a-rather-long-cluster", directory: "/data/x" }));
    notEqual(name, bridgeName({ name: "a-rather-long-cluster", directory: "/data/y" }));
    notEqual(name, bridgeName({ name: "a-rather-long-other", directory: "/data/x" }));
  });

  test("has at most 15 characters", () => {
    for (const name of ["a", "default", "x".repeat(32)]) equal(bridgeName({ name, directory: "/d" }).length <= 15, true);
  });
});

test("the CNI configuration has a bridge with addresses in the cluster's directory, and portmap", () => {
  const text = cniConfiguration({ bridge: "k8-x", podCidr: "10.244.3.0/24", addressDirectory: "/data/addresses" });
  deepEqual(JSON.parse(text), {
    cniVersion: "0.4.0",
    name: "k8-x",
    plugins: [
      {
        type: "bridge",
        bridge: "k8-x",
        isGateway: true,
        forceAddress: true,
        ipMasq: false,
        hairpinMode: true,
        promiscMode: false,
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: "10.244.3.0/24" }]],
          routes: [{ dst: "0.0.0.0/0" }],
          dataDir: "/data/addresses",
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  });
  equal(cniFileName("k8-x"), "10-k8-x.conflist");
});

test("bandwidth annotations are passed to the bandwidth plugin where it is installed", () => {
  const network = { bridge: "k8-x", podCidr: "10.244.3.0/24", addressDirectory: "/data/addresses" };
  const pluginsOf = (text: string) => (JSON.parse(text) as { readonly plugins: readonly { readonly type: string }[] }).plugins;
  deepEqual(pluginsOf(cniConfiguration({ ...network, hasBandwidth: true })).at(-1), {
    type: "bandwidth",
    capabilities: { bandwidth: true },
  });
  equal(pluginsOf(cniConfiguration(network)).at(-1)?.type, "portmap");
});

test("all rules of a network carry its name", () => {
  deepEqual(
    rulesOf({ bridge: "k8-x", podCidr: "10.1.2.0/24", clusterCidr: "10.1.0.0/16" }).map(({ table, listed }) => `${table} ${listed}`),
    [
      "nat -A POSTROUTING -s 10.1.2.0/24 ! -d 10.1.0.0/16 ! -o k8-x -m comment --comment k8ts:k8-x -j MASQUERADE",
      "filter -A FORWARD -i k8-x -m comment --comment k8ts:k8-x -j ACCEPT",
      "filter -A FORWARD -o k8-x -m comment --comment k8ts:k8-x -j ACCEPT",
      "filter -A INPUT -d 10.1.2.1/32 ! -i k8-x -m addrtype ! --src-type LOCAL -m comment --comment k8ts:k8-x -j DROP",
    ],
  );
});

test("the rule for the API server accepts packets of Pods to it", () => {
  const { table, listed } = apiServerRule({ bridge: "k8-x", target: { address: "10.1.2.1", port: 6443 } });
  equal(`${table} ${listed}`, "filter -A INPUT -d 10.1.2.1/32 -i k8-x -p tcp -m tcp --dport 6443 -m comment --comment k8ts:k8-x -j ACCEPT");
});

test("servicesChain has at most 28 characters", () => {
  equal(servicesChain(bridgeName({ name: "x".repeat(32), directory: "/d" })).length <= 28, true);
});

test("podCIDRs of other clusters are read from their rules, without this cluster's", () => {
  const listed = [
    '-A POSTROUTING -s 10.244.0.0/24 ! -o k8-x -m comment --comment "k8ts:k8-x" -j MASQUERADE',
    '-A POSTROUTING -s 10.245.0.0/24 ! -o k8-xy -m comment --comment "k8ts:k8-xy" -j MASQUERADE',
    "-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE",
  ];
  deepEqual(claimedRanges(listed, { except: "k8-x" }), ["10.245.0.0/24"]);
});

const CHAIN = "CNI-DN-0123456789abcdef01234";
const OTHER = "CNI-DN-fedcba9876543210fedcb";
const LISTED = [
  "-P PREROUTING ACCEPT",
  `-N ${CHAIN}`,
  `-N ${OTHER}`,
  "-N CNI-HOSTPORT-DNAT",
  "-N CNI-HOSTPORT-SETMARK",
  "-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT",
  `-A ${CHAIN} -s 10.1.2.0/24 -p tcp -m tcp --dport 80 -j CNI-HOSTPORT-SETMARK`,
  `-A ${OTHER} -p tcp -m tcp --dport 81 -j DNAT --to-destination 10.9.9.9:80`,
  `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"k8-x\\" id: \\"abc\\"" -m multiport --dports 80 -j ${CHAIN}`,
  `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"k8-xy\\" id: \\"def\\"" -m multiport --dports 81 -j ${OTHER}`,
];

test("portmap rules of this network are removed in a valid order, and no others", () => {
  deepEqual(pluginRules(LISTED, "k8-x").map(deletionOf), [
    [
      "-D",
      "CNI-HOSTPORT-DNAT",
      "-p",
      "tcp",
      "-m",
      "comment",
      "--comment",
      'dnat name: "k8-x" id: "abc"',
      "-m",
      "multiport",
      "--dports",
      "80",
      "-j",
      CHAIN,
    ],
    ["-D", CHAIN, "-s", "10.1.2.0/24", "-p", "tcp", "-m", "tcp", "--dport", "80", "-j", "CNI-HOSTPORT-SETMARK"],
    ["-X", CHAIN],
  ]);
  deepEqual(pluginRules(LISTED, "k8-z"), []);
});

test("rule arguments are separated by blanks unless quoted", () => {
  deepEqual(wordsOf(String.raw`-A x --comment "a \"b\" \\c" ""`), ["-A", "x", "--comment", String.raw`a "b" \c`, ""]);
});

test("routes are parsed from the kernel's table of little-endian addresses", () => {
  const table = [
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0",
    "k8-x\t0003F40A\t00000000\t0001\t0\t0\t1024\t00FFFFFF\t0\t0\t0",
    "",
  ].join("\n");
  deepEqual(parseRoutes(table), [
    { link: "eth0", destination: "0.0.0.0/0", metric: 0 },
    { link: "k8-x", destination: "10.244.3.0/24", metric: 1024 },
  ]);
});

test("mounts are parsed from the kernel's table with its octal escapes", () => {
  const table = [
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
    "37 36 0:4 net:[4026532281] /run/a\\040b/cni-1 rw shared:2 master:3 - nsfs nsfs rw",
    "",
  ].join("\n");
  deepEqual(parseMounts(table), [
    { path: "/mnt2", fileSystem: "ext3", id: "36", parentId: "35", device: "98:0", root: "/mnt1", isShared: false },
    {
      ...{ path: "/run/a b/cni-1", fileSystem: "nsfs", id: "37", parentId: "36", device: "0:4" },
      ...{ root: "net:[4026532281]", isShared: true },
    },
  ]);
});

test("a dual-stack network has a range, a default route and rules per family, the primary family first", () => {
  const ipv6 = { podCidr: "fd00:10:1:2::/64", clusterCidr: "fd00:10:1::/56" };
  const network = { bridge: "k8-x", podCidr: "10.1.2.0/24", clusterCidr: "10.1.0.0/16", ipv6 };
  const { plugins } = JSON.parse(cniConfiguration({ ...network, isIpv6First: true, addressDirectory: "/data" })) as {
    plugins: readonly { readonly ipam?: { readonly ranges: unknown; readonly routes: unknown } }[];
  };
  deepEqual(
    [plugins[0]?.ipam?.ranges, plugins[0]?.ipam?.routes],
    [
      [[{ subnet: "fd00:10:1:2::/64" }], [{ subnet: "10.1.2.0/24" }]],
      [{ dst: "::/0" }, { dst: "0.0.0.0/0" }],
    ],
  );
  deepEqual(
    rulesOf(network)
      .filter(({ family }) => family === 6)
      .map(({ table, listed }) => `${table} ${listed}`),
    [
      "nat -A POSTROUTING -s fd00:10:1:2::/64 ! -d fd00:10:1::/56 ! -o k8-x -m comment --comment k8ts:k8-x -j MASQUERADE",
      "filter -A FORWARD -i k8-x -m comment --comment k8ts:k8-x -j ACCEPT",
      "filter -A FORWARD -o k8-x -m comment --comment k8ts:k8-x -j ACCEPT",
      "filter -A INPUT -d fd00:10:1:2::1/128 ! -i k8-x -m addrtype ! --src-type LOCAL -m comment --comment k8ts:k8-x -j DROP",
    ],
  );
});

test("the chains of hostPorts that all networks share are removed with the last Pod that uses them", () => {
  const jumps = [
    "-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT",
    "-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT",
    '-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
  ];
  const rules = [
    "-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE",
    "-A CNI-HOSTPORT-SETMARK -j MARK --set-xmark 0x2000/0x2000",
  ];
  const chains = ["-N CNI-HOSTPORT-DNAT", "-N CNI-HOSTPORT-MASQ", "-N CNI-HOSTPORT-SETMARK"];
  const foreign = ["-P PREROUTING ACCEPT", "-N FOREIGN", "-A PREROUTING -j FOREIGN"];
  const used = "-A CNI-HOSTPORT-DNAT -p tcp -m multiport --dports 80 -j CNI-DN-0123456789abcdef01234";
  deepEqual(unusedHostPortRules([...foreign, ...chains, ...jumps, ...rules]), [...jumps, ...rules, ...chains]);
  deepEqual(unusedHostPortRules([...foreign, ...chains, ...jumps, ...rules, used]), []);
  deepEqual(unusedHostPortRules(foreign), []);
});
