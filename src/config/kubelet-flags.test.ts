import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseArguments } from "../cli/framework/flags.ts";
import { kubeletCommandFlags, kubeletFileFlags, kubeletProblems, pairsOf, parseTaint, reservedOf } from "./kubelet-flags.ts";

function parse(...argv: readonly string[]) {
  return parseArguments({ flags: { ...kubeletCommandFlags, ...kubeletFileFlags }, arguments: {} }, argv);
}

test("no flag is required, and by default only authorized requests are served", () => {
  const { values, problems } = parse();

  deepEqual(problems, []);
  equal(values["anonymous-auth"], false);
  equal(values["authentication-token-webhook"], true);
  equal(values["authorization-mode"], "Webhook");
  deepEqual([values.port, values["healthz-port"], values["max-pods"]], [10_250, 10_248, 110]);
});

for (const [typed, problem] of [
  ["--node-ip=10.0.0.300", "--node-ip must be an IP address such as 192.0.2.10"],
  ...["0.0.0.0", "::", "::ffff:0.0.0.0", "224.0.0.1", "ff02::1", "169.254.1.1", "fe80::1", "255.255.255.255"].map(
    (address) =>
      [`--node-ip=${address}`, "--node-ip must be a unicast IP address such as 192.0.2.10 (leave it out to detect one)"] as const,
  ),
  [
    "--register-with-taints=a=b:Never",
    "--register-with-taints must be a taint such as dedicated=db:NoSchedule, with the effect NoSchedule, PreferNoSchedule or NoExecute",
  ],
  ["--system-reserved=gpu=1", "--system-reserved must be a quantity of cpu, memory, ephemeral-storage or pid such as cpu=200m"],
  ["--kube-reserved=cpu=-1", "--kube-reserved must be a quantity of cpu, memory, ephemeral-storage or pid such as cpu=200m"],
  ["--pod-cidr=fd00::/64", "--pod-cidr must be an IPv4 CIDR such as 10.244.1.0/24, or one of each family"],
  ["--node-labels=-a=b", "--node-labels must be a label such as disk=ssd"],
  [
    "--node-labels=node-role.kubernetes.io/worker=",
    "--node-labels must be a label that a kubelet is allowed to set: in kubernetes.io and k8s.io only kubelet.kubernetes.io and node.kubernetes.io",
  ],
  ["--authorization-mode=Never", "--authorization-mode must be AlwaysAllow or Webhook"],
  ["--cgroup-root=relative", "--cgroup-root must be a path such as /second"],
] as const) {
  test(`${typed} is rejected`, () => {
    const [first = ""] = parse(typed).problems;

    equal(first.split(", is ")[0], problem);
  });
}

for (const address of ["192.0.2.10", "2001:db8::1", "::ffff:192.0.2.10", "127.0.0.1", "::1", "223.255.255.255"]) {
  test(`${address} is accepted as a node address`, () => deepEqual(parse(`--node-ip=${address}`).problems, []));
}

test("the listen address may be unspecified", () => deepEqual(parse("--address=0.0.0.0", "--healthz-bind-address=::").problems, []));

for (const label of [
  "disk=ssd",
  "example.com/disk=",
  "topology.kubernetes.io/zone=a",
  "node.kubernetes.io/instance-type=big",
  "x.node.kubernetes.io/a=b",
]) {
  test(`a node may set its own label ${label}`, () => deepEqual(parse(`--node-labels=${label}`).problems, []));
}

test("invalid combinations are reported", () => {
  const { values } = parse("--tls-cert-file=a", "--node-ip=10.0.0.1,10.0.0.2");

  deepEqual(kubeletProblems(values), [
    "--tls-cert-file and --tls-private-key-file must be set together",
    "--node-ip must be one address, or an IPv4 and an IPv6 address",
  ]);
});

for (const [text, taint] of [
  ["dedicated=db:NoSchedule", { key: "dedicated", value: "db", effect: "NoSchedule" }],
  ["dedicated:NoExecute", { key: "dedicated", effect: "NoExecute" }],
  ["dedicated=:PreferNoSchedule", { key: "dedicated", effect: "PreferNoSchedule" }],
  ["dedicated", undefined],
  ["a b:NoSchedule", undefined],
] as const) {
  test(`"${text}" is ${taint === undefined ? "no taint" : "a taint"}`, () => deepEqual(parseTaint(text), taint));
}

test("resources reserved by several flags are added up", () => {
  deepEqual(reservedOf(["cpu=100m", "memory=1Gi", "cpu=200m", "memory=512Mi"]), { cpu: "300m", memory: "1536Mi" });
});

test("a label value may contain the separator, or be empty", () => {
  deepEqual(pairsOf(["a=b=c", "d"]), { a: "b=c", d: "" });
});
