import { rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { openStore } from "./open-store.ts";

const context = { clock: realClock, log: silentLogger };

for (const { it, name, content, message } of [
  {
    it: "that is missing",
    name: "ca",
    content: undefined,
    message: /Cannot read .*ca\.pem: the file does not exist; set --etcd-cafile to a readable file$/,
  },
  {
    it: "without a certificate",
    name: "ca",
    content: "-----BEGIN PRIVATE KEY-----",
    message: /Cannot use .*ca\.pem: it contains no PEM certificate/,
  },
  {
    it: "without a private key",
    name: "key",
    content: "-----BEGIN CERTIFICATE-----",
    message: /Cannot use .*key\.pem: it contains no PEM private key/,
  },
]) {
  test(`a ${name} file ${it} is rejected with its path before any request`, async () => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-pem-"));
    const path = join(directory, `${name}.pem`);
    if (content !== undefined) await writeFile(path, content);
    const config = { driver: "etcd", servers: ["https://127.0.0.1:1"], files: { [name]: path } } as const;
    await rejects(openStore(config, context), { reason: "Unusable", message });
    await rm(directory, { recursive: true });
  });
}
