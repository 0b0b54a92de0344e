/**
 * Keeps a kubelet's certificate current: requests a new one before the current one expires (rotation-time.ts), with a new key, and hands it
 * to the caller, which stores and uses it. A failed request is retried with back-off; the current certificate stays in use meanwhile. One
 * timer.
 */
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import type { Validity } from "../../api/machinery/x509/validity.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { IssuedCertificate } from "./request-certificate.ts";
import { rotationTimeMs } from "./rotation-time.ts";

const RETRY_DELAY = { minMs: 2_000, maxMs: 300_000 };
/** The wall clock may be set while the loop sleeps: it is read again at least this often. */
const LOOK_AGAIN_MS = 24 * 60 * 60_000;

export interface CertificateRotationOptions {
  /** For log lines: "client", "serving". */
  readonly purpose: string;
  /** PEM. Absent: the first one is requested at once. */
  readonly current?: string;
  request(signal: AbortSignal): Promise<IssuedCertificate>;
  /** Stores a new certificate and puts it into use. Rejecting retries with another request. */
  use(issued: IssuedCertificate): void | Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface CertificateRotation extends AsyncDisposable {
  stop(): Promise<void>;
}

export function startCertificateRotation(options: CertificateRotationOptions): CertificateRotation {
  const stopping = new AbortController();
  const stopped = rotate(options, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await stopped;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

async function rotate(options: CertificateRotationOptions, signal: AbortSignal): Promise<never> {
  const { clock, random, log, purpose } = options;
  for (let current = options.current; ;) {
    const validity = current === undefined ? undefined : validityOf(current);
    if (validity !== undefined) await sleepUntil(rotationTimeMs(validity, random), clock, signal);
    current = await renew(options, signal);
    const expires = validityOf(current);
    log.info("Rotated certificate", { purpose, ...(expires === undefined ? {} : { expires: new Date(expires.toMs).toISOString() }) });
  }
}

/** Retries until it succeeds. */
async function renew({ request, use, purpose, clock, log }: CertificateRotationOptions, signal: AbortSignal): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      const issued = await request(signal);
      await use(issued);
      return issued.certificate;
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Rotating a certificate failed", { purpose, error });
    }
    await clock.sleep(exponentialDelayMs(RETRY_DELAY, attempt), signal);
  }
}

async function sleepUntil(timeMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let leftMs = timeMs - clock.now(); leftMs > 0; leftMs = timeMs - clock.now())
    await clock.sleep(Math.min(leftMs, LOOK_AGAIN_MS), signal);
}

/** Undefined if it cannot be read: then it is replaced at once. */
function validityOf(pem: string): Validity | undefined {
  try {
    return parsePemCertificates(pem)[0];
  } catch {
    return undefined;
  }
}
