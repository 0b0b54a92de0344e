import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { podCertificateRequests } from "../../api/certificates.k8s.io/v1beta1/pod-certificate-request.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { PodCertificateRequest } from "../../api/generated/certificates.k8s.io/v1beta1.ts";
import { DEFAULT_FEATURE_GATES } from "../../api/feature-gates.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { p256Key } from "../../api/machinery/x509/p256-signer.ts";
import { issuedStatus } from "../../api/testing/certificates.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { Client } from "../../client/client.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import type { CertificateSource } from "../contracts/pod-certificates.ts";
import { kubeletIdentity } from "../kubelet.ts";
import { aPod } from "../testing/world.ts";
import { startPodCertificates, type PodCertificates } from "./pod-certificates.ts";

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;
const PROJECTION = { signerName: "example.com/s", keyType: "ECDSAP256", userAnnotations: { "example.com/a": "b" } };

interface Case extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly certificates: PodCertificates;
  readonly source: CertificateSource;
  /** "Denied: …", as recorded about the Pod. */
  readonly events: readonly string[];
  /** Uids of the Pods that listeners were notified of. */
  readonly notified: readonly string[];
  requests(): Promise<readonly PodCertificateRequest[]>;
  /** Writes the status of the newest request, as its signer. */
  answer(status?: PodCertificateRequest["status"]): Promise<void>;
}

/** A node with the identity of a kubelet, and a Pod on it. */
async function startCase(): Promise<Case> {
  await using starting = new Disposables();
  const featureGates = { ...DEFAULT_FEATURE_GATES, PodCertificateRequest: true };
  const server = starting.use(await startControlledServer(["-*"], { config: { featureGates } }));
  const { clock } = server;
  const client = createClient(server.transport());
  const node = await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
  await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "default", name: "robot" } });
  const pod = await client.create(pods, aPod("p", { serviceAccountName: "robot", nodeName: "n1" }));
  await clock.settle();
  const transport = server.server.transport({ user: kubeletIdentity("n1"), userAgent: "kubelet" });
  const random = seededRandom(7);
  const informers = starting.use(createInformers({ transport, clock, random, log: silentLogger }));
  const events: string[] = [];
  const notified: string[] = [];
  let keys = 0;
  const certificates = starting.use(
    startPodCertificates({
      ...{ nodeName: "n1", client: createClient(transport), informers, clock, random, log: silentLogger },
      node: async () => node,
      newKey: async () => ({ pem: `key ${++keys}`, signer: p256Key(BigInt(keys)).signer }),
      record: (_about, { reason, message }) => void events.push(`${reason}: ${message}`),
    }),
  );
  certificates.listen((podUid) => void notified.push(podUid));
  const requests = async () => (await client.list<PodCertificateRequest>(podCertificateRequests)).items;
  const owned = starting.move();
  return {
    ...{ clock, client, certificates, events, notified, requests },
    source: { pod, volumeName: "v", index: 0, projection: PROJECTION },
    async answer(status) {
      const request = (await requests()).find((candidate) => candidate.status?.conditions === undefined);
      ok(request !== undefined, "no request is pending");
      const answer = status ?? issuedStatus(request, 100n, { nowMs: clock.now() });
      await client.update(podCertificateRequests, { ...request, status: answer }, { subresource: "status" });
      await clock.settle();
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Lets requests through that the caller waits for. */
async function within<T>(clock: VirtualClock, promise: Promise<T>, between: () => Promise<void>): Promise<T> {
  const settled = promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  await clock.settle();
  await between();
  await clock.advance(10_000);
  return (await settled)();
}

test("a certificate is requested once for the Pod's identities, and its key stays on the node", async () => {
  await using world = await startCase();
  const { clock, certificates, source } = world;

  const both = Promise.all([certificates.credentials(source, NEVER), certificates.credentials(source, NEVER)]);
  const [first, second] = await within(clock, both, () => world.answer());

  const [request, ...more] = await world.requests();
  deepEqual([first, more], [second, []]);
  const { spec } = request as PodCertificateRequest;
  deepEqual(
    { ...spec, podUID: "", serviceAccountUID: "", nodeUID: "", stubPKCS10Request: "" },
    {
      ...{ signerName: "example.com/s", podName: "p", serviceAccountName: "robot", nodeName: "n1" },
      ...{ podUID: "", serviceAccountUID: "", nodeUID: "", stubPKCS10Request: "" },
      maxExpirationSeconds: 86_400,
      unverifiedUserAnnotations: { "example.com/a": "b" },
    },
  );
  equal(first.key, "key 1");
  match(first.certificateChain, /^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/);
  ok(!JSON.stringify(request).includes("key 1"));
  deepEqual(await certificates.credentials(source, NEVER), first);
});

test("without an answer the source has no certificate yet, and the same request is used by the next attempt", async () => {
  await using world = await startCase();
  const { clock, certificates, source } = world;
  const attempt = certificates.credentials(source, NEVER);

  await rejects(
    within(clock, attempt, async () => undefined),
    { message: "credential bundle is not issued yet" },
  );
  const { key } = await within(clock, certificates.credentials(source, NEVER), () => world.answer());

  equal(key, "key 1");
  equal((await world.requests()).length, 1);
});

test("the certificate is refreshed with a new key after beginRefreshAt, and the Pod is notified", async () => {
  await using world = await startCase();
  const { clock, certificates, source } = world;
  const first = await within(clock, certificates.credentials(source, NEVER), () => world.answer());

  await clock.advance(HOUR_MS / 2 + 8 * 60_000);
  equal((await world.requests()).length, 2);
  deepEqual(await certificates.credentials(source, NEVER), first);
  await world.answer();

  const second = await certificates.credentials(source, NEVER);
  deepEqual([second.key, world.notified.at(-1)], ["key 2", source.pod.metadata.uid]);
  notEqual(second.certificateChain, first.certificateChain);
  deepEqual(world.events, []);
});

test("a certificate whose refresh is not answered is reported as overdue, then as expired, and stays in use", async () => {
  await using world = await startCase();
  const { clock, certificates, source } = world;
  const first = await within(clock, certificates.credentials(source, NEVER), () => world.answer());

  await clock.advance(2 * HOUR_MS);

  deepEqual(world.events, ["CertificateOverdueForRefresh: PodCertificate refresh overdue", "CertificateExpired: PodCertificate expired"]);
  deepEqual(await certificates.credentials(source, NEVER), first);
  equal((await world.requests()).length, 2);
});

for (const [type, verb, was] of [
  ["Denied", "denied", "was denied"],
  ["Failed", "failed", "failed"],
] as const) {
  test(`a request that ${was} is final, and an Event of the Pod says why`, async () => {
    await using world = await startCase();
    const { clock, certificates, source } = world;
    const conditions = [{ type, status: "True", reason: "Unknown", message: "no", lastTransitionTime: formatTime(clock.now()) }];
    const attempt = within(clock, certificates.credentials(source, NEVER), () => world.answer({ conditions }));
    const message = `PodCertificateRequest was permanently ${verb}: reason="Unknown" message="no"`;

    await rejects(attempt, { message });
    await rejects(certificates.credentials(source, NEVER), { message });

    const [request] = await world.requests();
    deepEqual(world.events, [`${type}: PodCertificateRequest default/${request?.metadata.name} ${was}, reason="Unknown", message="no"`]);
  });
}

test("a deleted request is replaced by the next attempt", async () => {
  await using world = await startCase();
  const { clock, client, certificates, source } = world;
  const remove = async (): Promise<void> => {
    for (const { metadata } of await world.requests()) await client.delete(podCertificateRequests, metadata);
    await clock.settle();
  };

  await rejects(within(clock, certificates.credentials(source, NEVER), remove), { message: "credential bundle is not issued yet" });
  const { key } = await within(clock, certificates.credentials(source, NEVER), () => world.answer());

  equal(key, "key 2");
});

test("a Pod that is forgotten is not refreshed", async () => {
  await using world = await startCase();
  const { clock, certificates, source } = world;
  await within(clock, certificates.credentials(source, NEVER), () => world.answer());

  certificates.forget(source.pod.metadata.uid ?? "");
  await clock.advance(2 * HOUR_MS);

  deepEqual([(await world.requests()).length, world.events], [1, []]);
});
