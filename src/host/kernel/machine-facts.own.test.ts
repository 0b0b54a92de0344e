import { equal, match, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { diskBytes, machineFacts } from "./machine-facts.ts";

test("facts of the machine are read", () => {
  const facts = machineFacts();
  match(facts.architecture, /^(amd64|arm64|386|arm|ppc64le|s390x|riscv64|loong64)$/);
  equal(facts.operatingSystem, process.platform);
  const total = /^MemTotal:\s+(?<kib>\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.groups?.["kib"];
  // In a container Node reports the cgroup limit.
  ok(facts.memoryBytes > 0 && facts.memoryBytes <= Number(total) * 1024);
  equal(facts.bootId, readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  match(facts.bootId, /^[0-9a-f-]{36}$/);
});

test("size and free space of a disk are read", async () => {
  const { totalBytes, freeBytes } = await diskBytes(tmpdir());
  ok(freeBytes > 0 && freeBytes <= totalBytes);
});
