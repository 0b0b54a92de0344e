import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readConfigFile } from "../cli/framework/config-file.ts";
import { COMMAND_LINE_ONLY, allUpFlags } from "./up-flags.ts";

const read = (text: string) => readConfigFile("c.yaml", text, allUpFlags, COMMAND_LINE_ONLY);

test("a config file sets flags by their names", () => {
  const { values, problems } = read(
    "name: second\nsimulated-nodes: 3\nin-memory: true\ncontrollers: [a, b]\netcd-servers: http://10.0.0.1:2379\n",
  );
  deepEqual(problems, []);
  deepEqual(Object.fromEntries(values), {
    name: "second",
    "simulated-nodes": 3,
    "in-memory": true,
    controllers: ["a", "b"],
    "etcd-servers": ["http://10.0.0.1:2379"],
  });
});

test("all problems are reported at once, each with its line", () => {
  const text = [
    "nmae: x", // 1
    "secure-port: many", // 2
    "simulated-nodes: -1", // 3
    "in-memory: 1", // 4
    "name: Upper", // 5
    "listen: here", // 6
    "node-name: 5", // 7
    "etcd-servers: {a: b}", // 8
    "store: paper", // 9
    "store: memory", // 10
    "config: other.yaml", // 11
    "frobnicate-everything-at-once: true", // 12
    "kubeconfig:", // 13
    'data-dir: ""', // 14
    "controllers: [a, 5, true]", // 15
    "cert-dir: [a]", // 16
  ].join("\n");

  deepEqual(read(text).problems, [
    'c.yaml:1: Unknown flag "nmae"; did you mean "name"?',
    'c.yaml:2: "secure-port" must be a number, is "many"',
    'c.yaml:3: "simulated-nodes" must be an integer from 0 to 20000, is "-1"',
    'c.yaml:4: "in-memory" must be true or false, is the number 1',
    'c.yaml:5: "name" must be a name of at most 32 lower-case letters, digits and dashes, is "Upper"',
    'c.yaml:6: "listen" must be an address such as 127.0.0.1, 0.0.0.0:6443 or [::1]:6443, is "here"',
    'c.yaml:7: "node-name" must be a string (quote it if it looks like another type), is the number 5',
    'c.yaml:8: "etcd-servers" must be a list of strings, is a map',
    'c.yaml:9: "store" must be embedded, memory or etcd, is "paper"',
    'c.yaml:10: "store" is set twice, first in line 9',
    'c.yaml:11: "config" can only be set on the command line',
    'c.yaml:12: Unknown flag "frobnicate-everything-at-once"',
    'c.yaml:13: "kubeconfig" must be a string (quote it if it looks like another type), is empty',
    'c.yaml:14: "data-dir" must not be empty',
    'c.yaml:15: "controllers" must be a list of strings, but item 2 is the number 5',
    'c.yaml:16: "cert-dir" must be a string (quote it if it looks like another type), is a list',
  ]);
});
