/** Every kind supports exactly upstream's field selectors, and rejects others with upstream's message. */
import { deepEqual } from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { applyMergePatch } from "../../src/api/machinery/patch/merge-patch.ts";
import { startServer } from "../../src/apiserver/testing/server.ts";
import { collectionOf, kindOf, readGoldens, type GivenObject } from "./golden.ts";
import { runGolden } from "./run-golden.ts";

interface Row {
  /** Added to the golden object, so that every field has a value. */
  readonly more?: JsonObject;
  readonly moreStatus?: JsonObject;
  /** Each of the kind's own fields, with its value in that object. */
  readonly fields: Readonly<Record<string, string>>;
  /** Error for an unknown field. Default: that of most of these kinds. */
  readonly refusal?: string;
}

const UNKNOWN = "nope.nope";

/** The kinds with more fields than name and namespace. */
const rows = new Map<string, Row>([
  ["batch/v1 Job", { fields: { "status.successful": "4" }, refusal: `field label "${UNKNOWN}" not supported for Job` }],
  ["certificates.k8s.io/v1 CertificateSigningRequest", { fields: { "spec.signerName": "example.com/my-signer" } }],
  [
    "events.k8s.io/v1 Event",
    {
      more: { regarding: { uid: "u1", apiVersion: "v1", resourceVersion: "7", fieldPath: "spec.containers{web}" } },
      fields: { ...referenceFields("regarding"), reason: "Started", type: "Normal", reportingController: "example.com/kubelet" },
    },
  ],
  [
    "v1 Event",
    {
      more: {
        involvedObject: { uid: "u1", apiVersion: "v1", resourceVersion: "7", fieldPath: "spec.containers{web}" },
        reportingComponent: "example.com/kubelet",
      },
      fields: {
        ...referenceFields("involvedObject"),
        reason: "Started",
        type: "Normal",
        reportingComponent: "example.com/kubelet",
        source: "kubelet",
      },
    },
  ],
  ["v1 Namespace", { fields: { "status.phase": "Active" } }],
  ["v1 Node", { fields: { "spec.unschedulable": "true" } }],
  [
    "v1 Pod",
    {
      more: {
        spec: {
          nodeName: "node-1",
          serviceAccountName: "robot",
          hostNetwork: true,
          containers: [{ name: "web", image: "example/web" }],
          initContainers: null,
        },
      },
      moreStatus: { initContainerStatuses: null },
      fields: {
        "spec.nodeName": "node-1",
        "spec.host": "node-1",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "robot",
        "spec.hostNetwork": "true",
        "status.phase": "Running",
        "status.podIP": "10.244.0.9",
        // Upstream supports this field, and it is empty whatever the Pod's addresses are.
        "status.podIPs": "",
        // Only an unscheduled Pod can be nominated to a node.
        "status.nominatedNodeName": "",
      },
    },
  ],
  ["v1 ReplicationController", { fields: { "status.replicas": "2" } }],
  ["v1 Secret", { fields: { type: "Opaque" } }],
  ["v1 Service", { fields: { "spec.clusterIP": "10.96.77.77", "spec.type": "NodePort" } }],
  [
    "resource.k8s.io/v1 ResourceSlice",
    {
      fields: { "spec.driver": "gpu.example.com", "spec.nodeName": "node-1" },
      refusal: `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${UNKNOWN}`,
    },
  ],
]);

function referenceFields(member: string): Record<string, string> {
  const values = {
    kind: "Pod",
    namespace: "golden",
    name: "web",
    uid: "u1",
    apiVersion: "v1",
    resourceVersion: "7",
    fieldPath: "spec.containers{web}",
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${member}.${name}`, value]));
}

const goldens = readGoldens().filter(({ given }) => kindOf(given).resource.verbs.includes("list"));

for (const golden of goldens.filter(({ given }) => rows.has(titleOf(given)))) {
  test(`${titleOf(golden.given)} is selected by each of its fields, and by no others`, async () => {
    const {
      more = {},
      moreStatus = {},
      fields,
      refusal = `field label not supported: ${UNKNOWN}`,
    } = rows.get(titleOf(golden.given)) as Row;
    const { resource, served } = kindOf(golden.given);
    const given = applyMergePatch(golden.given, more) as GivenObject;
    const status = golden.status === undefined ? {} : { status: applyMergePatch(golden.status, moreStatus) as JsonObject };
    await using server = await startServer();
    await server.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "golden" } });
    await runGolden({ ...golden, given, ...status }, server.call, "golden");
    const ask = (selector: string) => server.call("GET", `${collectionOf(given, "golden")}?fieldSelector=${encodeURIComponent(selector)}`);
    const isFoundBy = async (selector: string): Promise<boolean> =>
      ((await ask(selector)).body as { readonly items: readonly GivenObject[] }).items.some(
        ({ metadata }) => metadata["name"] === given.metadata["name"],
      );

    const found: object[] = [];
    for (const [field, value] of Object.entries(fields)) {
      found.push([field, await isFoundBy(`${field}=${value}`), await isFoundBy(`${field}!=${value}`), await isFoundBy(`${field}=other`)]);
    }

    deepEqual(
      found,
      Object.keys(fields).map((field) => [field, true, false, false]),
    );
    deepEqual(Object.keys(fields).toSorted(), Object.keys(served.selectableFields ?? resource.selectableFields).toSorted());
    const { code, body } = await ask(`${UNKNOWN}=x`);
    deepEqual([code, (body as { readonly message: string }).message], [400, refusal]);
  });
}

test("all other kinds support only metadata.name and metadata.namespace as field selectors", async () => {
  await using server = await startServer();
  const others = goldens.filter(({ given }) => !rows.has(titleOf(given)));

  const refusals: unknown[] = [];
  for (const { given } of others) {
    const list = collectionOf(given, "golden");
    const named = await server.call("GET", `${list}?fieldSelector=metadata.name%3Dx,metadata.namespace%3Dgolden`);
    const { body } = await server.call("GET", `${list}?fieldSelector=${UNKNOWN}%3Dx`);
    refusals.push([titleOf(given), named.code, (body as { readonly message: string }).message]);
  }

  const refusal = `"${UNKNOWN}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
  deepEqual(
    refusals,
    others.map(({ given }) => [titleOf(given), 200, refusal]),
  );
});

function titleOf({ apiVersion, kind }: GivenObject): string {
  return `${apiVersion} ${kind}`;
}
