import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testAuthority } from "../testing/certificates.ts";
import { controllerFlags, readControllerSettings, signingProblems, type ControllerFlagValues } from "./controller-flags.ts";
import { parseArguments } from "./flags.ts";

function valuesOf(...words: readonly string[]): ControllerFlagValues {
  const { values, problems } = parseArguments({ flags: controllerFlags, arguments: {} }, words);
  deepEqual(problems, []);
  return values;
}

test("nothing is signed without an authority, which is a certificate and its key", async () => {
  deepEqual(signingProblems(valuesOf()), []);
  deepEqual(signingProblems(valuesOf("--cluster-signing-cert-file=a", "--cluster-signing-key-file=b")), []);
  deepEqual(signingProblems(valuesOf("--cluster-signing-cert-file=a")), [
    "--cluster-signing-cert-file is of no use alone: give --cluster-signing-key-file, too",
  ]);
  deepEqual(signingProblems(valuesOf("--cluster-signing-key-file=a")), [
    "--cluster-signing-key-file is of no use alone: give --cluster-signing-cert-file, too",
  ]);
  equal((await readControllerSettings(valuesOf(), "")).signing, undefined);
});

test("the authority is read, and how long its certificates are good", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-signing-"));
  after(() => rm(directory, { recursive: true }));
  const [certificate, key] = [join(directory, "ca.crt"), join(directory, "ca.key")];
  const authority = testAuthority("ca");
  await writeFile(certificate, authority.certificate);
  await writeFile(key, authority.key);
  const files = [`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`];

  const { signing } = await readControllerSettings(valuesOf(...files, "--cluster-signing-duration=1h"), "");

  deepEqual([signing?.certificate, signing?.signer.algorithm, signing?.durationMs], [authority.certificate, "ES256", 3_600_000]);
  const { signing: byDefault } = await readControllerSettings(valuesOf(...files), "");
  equal(byDefault?.durationMs, 365 * 24 * 3_600_000);
});
