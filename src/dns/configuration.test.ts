import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_DNS_CONFIGURATION, mergeDnsConfiguration } from "./configuration.ts";

test("a file overrides single fields", () => {
  const read = mergeDnsConfiguration(DEFAULT_DNS_CONFIGURATION, {
    zone: "Example.Cluster.",
    cache: { ttlMaxSeconds: 5 },
    hosts: { file: "/a" },
  });
  equal(read.ok, true);
  deepEqual(read.ok && [read.configuration.zone, read.configuration.cache.ttlMaxSeconds, read.configuration.hosts.file], [
    "example.cluster",
    5,
    "/a",
  ]);
  deepEqual(read.ok && read.configuration.forward, DEFAULT_DNS_CONFIGURATION.forward);
});

test("all problems are reported at once", () => {
  const value = {
    zone: "a..b",
    plugin: [],
    cache: { ttlMaxSeconds: -1, prefetch: "yes" },
    forward: { upstreams: "1" },
    kubernetes: { pods: "x" },
  };
  deepEqual(mergeDnsConfiguration(DEFAULT_DNS_CONFIGURATION, value), {
    ok: false,
    problems: [
      'zone must be a domain name, is "a..b"',
      "plugin is unknown; known are zone, plugins, kubernetes, hosts, cache, forward",
      "cache.ttlMaxSeconds must be an integer of 0 or more, is -1",
      'cache.prefetch must be a boolean, is "yes"',
      'forward.upstreams must be a list of strings, is "1"',
      'kubernetes.pods must be one of insecure, disabled, is "x"',
    ],
  });
});
