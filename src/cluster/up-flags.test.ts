import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ConfigValue } from "../cli/framework/config-file.ts";
import { overlay, parseListen, plain } from "./up-flags.ts";

for (const [text, expected] of [
  ["127.0.0.1", { address: "127.0.0.1" }],
  ["0.0.0.0:6443", { address: "0.0.0.0", port: 6443 }],
  ["127.0.0.1:0", { address: "127.0.0.1", port: 0 }],
  ["::1", { address: "::1" }],
  ["[::1]:6443", { address: "::1", port: 6443 }],
  ["[127.0.0.1]:80", undefined],
  ["::1:6443:x", undefined],
  ["127.0.0.1:65536", undefined],
  ["localhost:6443", undefined],
  [":6443", undefined],
  ["", undefined],
] as const) {
  test(`--listen ${JSON.stringify(text)} is ${JSON.stringify(expected)}`, () => deepEqual(parseListen(text), expected));
}

const source = (values: Record<string, ConfigValue>) => plain({ values: new Map(Object.entries(values)), shown: (name) => `--${name}` });

const ROWS: readonly { given: Record<string, ConfigValue>; plain: Record<string, ConfigValue>; problems?: readonly string[] }[] = [
  { given: { listen: "10.0.0.1:1" }, plain: { "bind-address": "10.0.0.1", "secure-port": 1 } },
  { given: { listen: "10.0.0.1", "secure-port": 1 }, plain: { "bind-address": "10.0.0.1", "secure-port": 1 } },
  {
    given: { listen: "10.0.0.1:1", "secure-port": 2 },
    plain: { "bind-address": "10.0.0.1", "secure-port": 2 },
    problems: ["--listen and --secure-port are mutually exclusive: leave one of them out"],
  },
  {
    given: { listen: "10.0.0.1", "bind-address": "10.0.0.2" },
    plain: { "bind-address": "10.0.0.2" },
    problems: ["--listen and --bind-address are mutually exclusive: leave one of them out"],
  },
  { given: { "in-memory": true }, plain: { store: "memory" } },
  { given: { "in-memory": false, store: "embedded" }, plain: { store: "embedded" } },
  {
    given: { "in-memory": true, store: "embedded" },
    plain: { store: "embedded" },
    problems: ["--in-memory and --store are mutually exclusive: leave one of them out"],
  },
  { given: { "etcd-servers": ["http://a:1"] }, plain: { "etcd-servers": ["http://a:1"], store: "etcd" } },
];

for (const { given, plain: expected, problems = [] } of ROWS) {
  test(`${JSON.stringify(given)} is ${problems.length > 0 ? "a contradiction" : JSON.stringify(expected)}`, () => {
    const { values, problems: reported } = source(given);
    deepEqual([Object.fromEntries(values), reported], [expected, problems]);
  });
}

for (const [title, file, typed, expected] of [
  [
    "a flag wins over the file",
    { listen: "10.0.0.1:1", name: "a" },
    { "secure-port": 2 },
    { "bind-address": "10.0.0.1", "secure-port": 2, name: "a" },
  ],
  [
    "a typed store wins over the file's servers",
    { "etcd-servers": ["http://a:1"], "etcd-prefix": "/x" },
    { "in-memory": true },
    { store: "memory" },
  ],
  [
    "typed servers win over the file's store",
    { store: "memory" },
    { "etcd-servers": ["http://a:1"] },
    { "etcd-servers": ["http://a:1"], store: "etcd" },
  ],
] as const) {
  test(title, () => deepEqual(Object.fromEntries(overlay(source(file).values, source(typed).values)), expected));
}
