import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../../../testing/needs.ts";
import { detachedSignature } from "./detached-signature.ts";

const CONTENT = "apiVersion: v1\nkind: Config\n# ä\n";
const HEADER = Buffer.from('{"alg":"HS256","kid":"abcdef"}').toString("base64url");
const KEY = "0123456789abcdef";

test("a detached signature is a JWS without its payload, as kubeadm computes it", () => {
  const mac = createHmac("sha256", KEY)
    .update(`${HEADER}.${Buffer.from(CONTENT).toString("base64url")}`)
    .digest("base64url");

  assert.equal(detachedSignature(CONTENT, { id: "abcdef", key: new TextEncoder().encode(KEY) }), `${HEADER}..${mac}`);
});

test("OpenSSL computes the same signature", needs("openssl"), async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-signature-"));
  after(() => rm(directory, { recursive: true }));
  const file = join(directory, "signed");
  await writeFile(file, `${HEADER}.${Buffer.from(CONTENT).toString("base64url")}`);

  const { stdout } = await promisify(execFile)(toolPath("openssl"), ["dgst", "-sha256", "-hmac", KEY, "-r", file]);

  const signature = detachedSignature(CONTENT, { id: "abcdef", key: new TextEncoder().encode(KEY) });
  assert.equal(Buffer.from(signature.split(".")[2] ?? "", "base64url").toString("hex"), stdout.split(" ")[0]);
});
