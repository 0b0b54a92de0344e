import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import { selfIssuer, writeCertificate } from "../../api/machinery/x509/certificate-writer.ts";
import { p256Key } from "../../api/machinery/x509/p256-signer.ts";
import { pemText } from "../../api/machinery/x509/pem.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startCertificateRotation, type CertificateRotationOptions } from "./certificate-rotation.ts";
import type { IssuedCertificate } from "./request-certificate.ts";

const DAY_MS = 24 * 60 * 60_000;
const YEAR_MS = 365 * DAY_MS;
const SUBJECT = { commonName: "system:node:worker", organizations: ["system:nodes"] };
const { signer } = p256Key(3n);

/** Valid for a year from now on. */
function issue(clock: VirtualClock, key: string): IssuedCertificate {
  const validity = { fromMs: clock.now(), toMs: clock.now() + YEAR_MS };
  const content = { subject: SUBJECT, publicKey: signer.publicKey, validity, serialNumber: Uint8Array.of(1), keyUsages: [] };
  return { certificate: pemText("CERTIFICATE", writeCertificate(content, selfIssuer(SUBJECT, signer))), key };
}

function rotation(clock: VirtualClock, more: Pick<CertificateRotationOptions, "request" | "use"> & Partial<CertificateRotationOptions>) {
  return startCertificateRotation({ purpose: "client", clock, random: seededRandom(5), log: silentLogger, ...more });
}

test("the first certificate is requested at once, and then rotated between 70 and 90 % of each lifetime", async () => {
  const clock = virtualClock();
  const used: { readonly atMs: number; readonly issued: IssuedCertificate }[] = [];
  await using _rotation = rotation(clock, {
    request: () => Promise.resolve(issue(clock, `key ${used.length}`)),
    use: (issued) => void used.push({ atMs: clock.now(), issued }),
  });

  await clock.advance(3 * YEAR_MS);

  ok(used.length >= 4 && used.length <= 5, `${used.length} certificates`);
  for (const [index, { atMs, issued }] of used.entries()) {
    const before = used[index - 1];
    if (before === undefined) continue;
    const [certificate] = parsePemCertificates(before.issued.certificate);
    ok(certificate !== undefined);
    const share = (atMs - certificate.fromMs) / (certificate.toMs - certificate.fromMs);
    ok(share >= 0.7 && share <= 0.9, `rotated after ${share} of the lifetime`);
    notEqual(before.issued.key, issued.key);
  }
});

const CURRENT: readonly (readonly [what: string, afterMs: number, isReplaced: boolean])[] = [
  ["valid", 200 * DAY_MS, false],
  ["valid", 330 * DAY_MS, true],
  ["unreadable", 0, true],
];

for (const [what, afterMs, isReplaced] of CURRENT) {
  test(`a certificate that is ${what} is ${isReplaced ? "replaced" : "kept"} after ${afterMs / DAY_MS} days`, async () => {
    const clock = virtualClock();
    const used: IssuedCertificate[] = [];
    const current = what === "valid" ? issue(clock, "old").certificate : what;
    const request = () => Promise.resolve(issue(clock, "new"));
    await using _rotation = rotation(clock, { current, request, use: (issued) => void used.push(issued) });

    await clock.advance(afterMs);

    deepEqual(
      used.map(({ key }) => key),
      isReplaced ? ["new"] : [],
    );
  });
}

test("a rotation is retried with back-off until it is requested and stored", async () => {
  const clock = virtualClock();
  const attempts: number[] = [];
  await using _rotation = rotation(clock, {
    request() {
      attempts.push(clock.now());
      return attempts.length < 3 ? Promise.reject(new Error("the server does not respond")) : Promise.resolve(issue(clock, "new"));
    },
    use: () => (attempts.length < 4 ? Promise.reject(new Error("no space is left on the disk")) : undefined),
  });

  await clock.advance(60_000);

  deepEqual(
    attempts.map((atMs) => atMs - (attempts[0] ?? 0)),
    [0, 2_000, 6_000, 14_000],
  );
});

test("stopping a rotation cancels a request", async () => {
  const clock = virtualClock();
  let reason: unknown;
  const request = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject((reason = new Error("cancelled"))), { once: true });
    });
  const running = rotation(clock, { request, use: () => undefined });
  await clock.settle();
  await running.stop();
  equal((reason as Error).message, "cancelled");
});
