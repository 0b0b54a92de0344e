/**
 * Certificates of the podCertificate sources of this node's Pods. Each source has a key that never leaves the node: a PodCertificateRequest
 * is created, and the certificate that its signer issues is kept in memory until the Pod is gone. From `beginRefreshAt` on a new key is
 * requested; the Pod keeps the old certificate until the new one is issued. After a restart everything is requested again, as upstream, while
 * the files of the Pods stay. Not here: writing the files (volumes/projected).
 */
import { podCertificateRequests } from "../../api/certificates.k8s.io/v1beta1/pod-certificate-request.ts";
import { answerOf } from "../../api/certificates.k8s.io/v1beta1/pod-certificate-request/validate-answer.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { PodCertificateRequest } from "../../api/generated/certificates.k8s.io/v1beta1.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { pemBlocks, pemText } from "../../api/machinery/x509/pem.ts";
import { writeRequest } from "../../api/machinery/x509/request-writer.ts";
import { anySignal, NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Signer } from "../../base/crypto/signing.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import type { Informer, Informers } from "../../client/informer/informer.ts";
import type { CertificateSource, PodCredentials } from "../contracts/pod-certificates.ts";
import { fetchAllowed } from "../references/watched-object.ts";

/** Upstream's: sources are looked at every one to two minutes. */
const PASS_INTERVAL_MS = 60_000;
/** Upstream's jitter after `beginRefreshAt`: not all Pods of a Deployment request at once. */
const REFRESH_JITTER_MAX_MS = 300_000;
/** Upstream's: from then on a refresh is overdue. */
const OVERDUE_AFTER_MS = 600_000;
/** A signer in the cluster takes less; a caller that waits longer is answered that there is no certificate yet, and retries. */
const ISSUE_WAIT_MS = 5_000;

export interface PodCertificates extends Disposable {
  /** Rejects if the source has no certificate yet, or never will. */
  credentials(source: CertificateSource, signal: AbortSignal): Promise<PodCredentials>;
  /** The Pod is gone. */
  forget(podUid: string): void;
  /** Notifies the listener that this Pod has another certificate. */
  listen(listener: (podUid: string) => void): Disposable;
}

export interface PodCertificatesOptions {
  readonly nodeName: string;
  readonly client: Client;
  readonly informers: Informers;
  /** This node's object. */
  node(signal: AbortSignal): Promise<Node | undefined>;
  newKey(type: string): Promise<{ readonly pem: string; readonly signer: Signer }>;
  record(about: KubeObject, event: RecordedEvent): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function startPodCertificates(options: PodCertificatesOptions): PodCertificates {
  return new RequestedCertificates(options);
}

/** One source of one Pod. */
interface Kept {
  source: CertificateSource;
  /** The newest certificate. */
  issued?: IssuedCredentials | undefined;
  /** The request that waits for its signer. */
  pending?: { readonly name: string; readonly key: string } | undefined;
  /** Being created. */
  creating?: Promise<void> | undefined;
  /** Why there will be no certificate: final, as upstream. */
  refusal?: string;
  readonly waiting: Set<() => void>;
}

interface IssuedCredentials extends PodCredentials {
  readonly beginRefreshAtMs: number;
  /** With jitter. */
  readonly refreshAtMs: number;
  readonly notAfterMs: number;
  readonly reported: Set<string>;
}

class RequestedCertificates implements PodCertificates {
  readonly #options: PodCertificatesOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #closing = new AbortController();
  /** Undefined: no Pod has needed a certificate yet, so that nothing is watched. */
  #requests: Informer<PodCertificateRequest> | undefined;

  constructor(options: PodCertificatesOptions) {
    this.#options = options;
  }

  async credentials(source: CertificateSource, signal: AbortSignal): Promise<PodCredentials> {
    signal.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    this.#requests ??= this.#begin();
    const key = keyOf(source);
    const kept = this.#kept.get(key) ?? { source, waiting: new Set<() => void>() };
    kept.source = source;
    this.#kept.set(key, kept);
    if (isUnasked(kept)) await this.#create(kept, "initial");
    if (kept.issued === undefined && kept.refusal === undefined) await this.#wait(kept, signal);
    if (kept.refusal !== undefined) throw new Error(kept.refusal);
    if (kept.issued === undefined) throw new Error("credential bundle is not issued yet");
    return kept.issued;
  }

  forget(podUid: string): void {
    for (const [key, { source, waiting }] of this.#kept) {
      if (source.pod.metadata.uid !== podUid) continue;
      this.#kept.delete(key);
      for (const wake of waiting) wake();
    }
  }

  listen(listener: (podUid: string) => void): Disposable {
    const own = (podUid: string) => listener(podUid);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#closing.abort(NOT_NEEDED);
    this.#listeners.clear();
    for (const { waiting } of this.#kept.values()) for (const wake of waiting) wake();
    this.#kept.clear();
  }

  /** Watches the requests of this node, and refreshes what is due. */
  #begin(): Informer<PodCertificateRequest> {
    const { informers, nodeName } = this.#options;
    const informer = informers.of(podCertificateRequests, { fieldSelector: `spec.nodeName=${nodeName}` });
    const changed = (request: PodCertificateRequest): void => this.#answered(request);
    // Ends with the informers.
    informer.listen({ added: changed, updated: (request) => changed(request), deleted: (request) => this.#deleted(request) });
    this.#passes().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.log.error("Refreshing Pod certificates stopped", { error });
    });
    return informer;
  }

  async #passes(): Promise<void> {
    const { clock, random, log } = this.#options;
    for (;;) {
      await clock.sleep(PASS_INTERVAL_MS * (1 + random.fraction()), this.#closing.signal);
      for (const kept of this.#kept.values()) {
        this.#reportAge(kept);
        const { issued, pending, refusal } = kept;
        if (issued === undefined || pending !== undefined || refusal !== undefined || clock.now() < issued.refreshAtMs) continue;
        await this.#create(kept, "refresh").catch((error: unknown) => {
          log.warn("Cannot request a new Pod certificate; retrying", { ...named(kept), error });
        });
      }
    }
  }

  /** Concurrent callers share one request. */
  #create(kept: Kept, which: "initial" | "refresh"): Promise<void> {
    kept.creating ??= this.#request(kept)
      .catch((error: unknown) => {
        const what = error instanceof Error ? error.message : String(error);
        throw new Error(`while creating ${which} PodCertificateRequest: ${what}`, { cause: error });
      })
      .finally(() => (kept.creating = undefined));
    return kept.creating;
  }

  async #request(kept: Kept): Promise<void> {
    const { client, clock, random, nodeName, newKey } = this.#options;
    const { pod, projection } = kept.source;
    const { name: podName, namespace = "", uid: podUID = "" } = pod.metadata;
    const { signal } = this.#closing;
    const serviceAccountName = pod.spec?.serviceAccountName ?? "";
    const account = await fetchAllowed({ client, clock, random, kind: serviceAccounts, namespace, name: serviceAccountName }, signal);
    if (account === undefined) throw new Error(`while fetching service account: serviceaccounts "${serviceAccountName}" not found`);
    const node = await this.#options.node(signal);
    if (node === undefined) throw new Error(`while getting node object from local cache: node "${nodeName}" not found`);
    const { signerName, keyType, maxExpirationSeconds, userAnnotations } = projection;
    const { pem, signer } = await newKey(keyType);
    const created = await client.create(
      podCertificateRequests,
      {
        apiVersion: "certificates.k8s.io/v1beta1",
        kind: "PodCertificateRequest",
        metadata: {
          namespace,
          generateName: "req-",
          ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: podName, uid: podUID }],
        },
        spec: {
          ...{ signerName, podName, podUID, serviceAccountName, serviceAccountUID: account.metadata.uid ?? "" },
          ...{ nodeName, nodeUID: node.metadata.uid ?? "" },
          ...(maxExpirationSeconds === undefined ? {} : { maxExpirationSeconds }),
          ...(userAnnotations === undefined ? {} : { unverifiedUserAnnotations: userAnnotations }),
          stubPKCS10Request: emptyRequest(signer),
        },
      },
      { signal },
    );
    kept.pending = { name: created.metadata.name, key: pem };
    // Its signer may have been faster than the answer.
    const answered = this.#requests?.get({ namespace, name: created.metadata.name });
    if (answered !== undefined) this.#answered(answered);
  }

  #answered(request: PodCertificateRequest): void {
    const kept = this.#keptOf(request);
    const answer = answerOf(request.status);
    if (kept?.pending === undefined || answer === undefined) return;
    const { key } = kept.pending;
    kept.pending = undefined;
    if (answer === "Issued") kept.issued = this.#issued(request, key);
    else this.#refused(kept, request, answer);
    this.#changed(kept);
  }

  #issued({ status = {} }: PodCertificateRequest, key: string): IssuedCredentials {
    const beginRefreshAtMs = parseTime(status.beginRefreshAt ?? "") ?? 0;
    return {
      key,
      certificateChain: cleanChain(status.certificateChain ?? ""),
      beginRefreshAtMs,
      refreshAtMs: beginRefreshAtMs + this.#options.random.fraction() * REFRESH_JITTER_MAX_MS,
      notAfterMs: parseTime(status.notAfter ?? "") ?? 0,
      reported: new Set(),
    };
  }

  #refused(kept: Kept, request: PodCertificateRequest, answer: string): void {
    const { reason = "", message = "" } = (request.status?.conditions ?? []).find(({ type }) => type === answer) ?? {};
    const why = `reason=${quoteGo(reason)} message=${quoteGo(message)}`;
    const [was, name] = [answer === "Denied" ? "was denied" : "failed", `${request.metadata.namespace ?? ""}/${request.metadata.name}`];
    kept.refusal = `PodCertificateRequest was permanently ${answer.toLowerCase()}: ${why}`;
    const about = `PodCertificateRequest ${name} ${was}, reason=${quoteGo(reason)}, message=${quoteGo(message)}`;
    this.#options.record(kept.source.pod, { type: "Warning", reason: answer, message: about });
  }

  /** A client deleted it, or the garbage collector after the Pod: the next attempt, if any, creates another one. */
  #deleted(request: PodCertificateRequest): void {
    const kept = this.#keptOf(request);
    if (kept?.pending === undefined) return;
    kept.pending = undefined;
    this.#changed(kept);
  }

  #keptOf({ metadata: { name, namespace } }: PodCertificateRequest): Kept | undefined {
    return [...this.#kept.values()].find(({ pending, source }) => pending?.name === name && source.pod.metadata.namespace === namespace);
  }

  /** Upstream's events, each once per certificate. */
  #reportAge({ issued, source }: Kept): void {
    if (issued === undefined) return;
    const nowMs = this.#options.clock.now();
    const report = (reason: string, message: string): void => {
      if (issued.reported.has(reason)) return;
      issued.reported.add(reason);
      this.#options.record(source.pod, { type: "Warning", reason, message });
    };
    if (nowMs > issued.beginRefreshAtMs + OVERDUE_AFTER_MS) report("CertificateOverdueForRefresh", "PodCertificate refresh overdue");
    if (nowMs > issued.notAfterMs) report("CertificateExpired", "PodCertificate expired");
  }

  #changed({ source, waiting }: Kept): void {
    for (const wake of waiting) wake();
    for (const listener of this.#listeners) listener(source.pod.metadata.uid ?? "");
  }

  /** Resolves when the request is answered, the Pod is forgotten, or after a while. */
  async #wait({ waiting }: Kept, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const wake = (): void => done.abort(NOT_NEEDED);
    waiting.add(wake);
    try {
      await this.#options.clock.sleep(ISSUE_WAIT_MS, anySignal(done.signal, signal)).catch(() => signal.throwIfAborted());
    } finally {
      waiting.delete(wake);
    }
  }
}

function isUnasked({ issued, pending, refusal }: Kept): boolean {
  return issued === undefined && pending === undefined && refusal === undefined;
}

function keyOf({ pod, volumeName, index }: CertificateSource): string {
  return JSON.stringify([pod.metadata.uid, volumeName, index]);
}

function named({ source: { pod, volumeName } }: Kept): Readonly<Record<string, string>> {
  return { pod: `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`, volume: volumeName };
}

/** DER as base64. It names nothing: the signer takes everything from the request's spec. */
function emptyRequest(signer: Signer): string {
  const pem = writeRequest({}, signer);
  const [block] = pemBlocks(new TextEncoder().encode(pem));
  return encodeBase64(block?.bytes ?? new Uint8Array());
}

/** Without the headers of blocks and the text between them. */
function cleanChain(pem: string): string {
  return [...pemBlocks(new TextEncoder().encode(pem))].map(({ bytes }) => pemText("CERTIFICATE", bytes)).join("");
}
