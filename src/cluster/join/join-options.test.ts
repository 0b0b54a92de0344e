import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseArguments } from "../../cli/framework/flags.ts";
import { PRESSURE_DEFAULT } from "../../kubelet/eviction/pressure-settings.ts";
import { joinFlags, joinOptions, parseServer } from "./join-options.ts";

const HASH = `sha256:${"ab".repeat(32)}`;
const ADDRESS = { address: { doc: "Address.", optional: true } } as const;

function parse(line: string) {
  const { values } = parseArguments(
    { flags: joinFlags, arguments: ADDRESS },
    line.split(" ").filter((word) => word !== ""),
  );
  return joinOptions(values, { HOME: "/home/ann" });
}

const SERVERS: readonly (readonly [text: string, expected: string | undefined])[] = [
  ["192.0.2.1:6443", "https://192.0.2.1:6443"],
  ["https://192.0.2.1:6443", "https://192.0.2.1:6443"],
  ["[2001:db8::1]:6443", "https://[2001:db8::1]:6443"],
  ["api.example:443", "https://api.example:443"],
  ["192.0.2.1", undefined],
  ["192.0.2.1:0", undefined],
  ["192.0.2.1:65536", undefined],
  ["2001:db8::1:6443", undefined],
  ["[nothing]:6443", undefined],
  ["http://192.0.2.1:6443", undefined],
  ["user@192.0.2.1:6443", undefined],
  ["", undefined],
];

for (const [text, expected] of SERVERS) {
  test(`the address ${JSON.stringify(text)} is ${expected ?? "rejected"}`, () => equal(parseServer(text), expected));
}

const PROBLEMS: readonly (readonly [line: string, problems: readonly RegExp[]])[] = [
  ["", []],
  [`192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash ${HASH}`, []],
  ["192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification", []],
  ["192.0.2.1:6443 --token abcdef.0123456789abcdef", [/^--discovery-token-ca-cert-hash is required with a token/]],
  ["192.0.2.1:6443 --token-file token", [/^--discovery-token-ca-cert-hash is required with a token/]],
  [`192.0.2.1:6443 --token-file token --discovery-token-ca-cert-hash ${HASH}`, []],
  [
    `192.0.2.1:6443 --token-file - --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash ${HASH}`,
    [/^--token and --token-file are mutually exclusive/],
  ],
  [`--token abcdef.0123456789abcdef --discovery-token-ca-cert-hash ${HASH}`, [/^ADDRESS is missing/]],
  ["192.0.2.1", [/^ADDRESS must be an address and a port/]],
  [`192.0.2.1:6443 --discovery-token-ca-cert-hash ${HASH} --discovery-token-unsafe-skip-ca-verification`, [/are mutually exclusive/]],
];

for (const [line, expected] of PROBLEMS) {
  test(`k8ts join ${line} ${expected.length === 0 ? "is valid" : "is rejected"}`, () => {
    const parsed = parse(line);
    const problems = parsed.ok ? [] : parsed.problems;
    equal(problems.length, expected.length, problems.join("\n"));
    deepEqual(
      expected.filter((pattern) => !problems.some((problem) => pattern.test(problem))),
      [],
    );
  });
}

test("the options of a join are those of its flags, with the home of the name", () => {
  const parsed = parse("192.0.2.1:6443 --name worker --node-name w1 --pod-cidr 10.244.3.0/24 --timeout 30s --detach");
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const { networkValues: _values, ...options } = parsed.options;
  deepEqual(options, {
    home: { directory: "/home/ann/.local/share/k8ts/worker", name: "worker" },
    server: "https://192.0.2.1:6443",
    pins: [],
    nodeName: "w1",
    isNamed: true,
    nodeIps: [],
    podCidrs: ["10.244.3.0/24"],
    rotatesServingCertificate: false,
    timeoutMs: 30_000,
    isDetached: true,
    pressure: PRESSURE_DEFAULT,
  });
});
