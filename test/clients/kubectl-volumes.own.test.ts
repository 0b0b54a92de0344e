/** The real kubectl sees claims bound to volumes, why others wait, and volumes released. */
import { deepEqual, match, ok } from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { aList } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";

const server = await startTestApiServer({ controllers: ["*"] });
after(() => server.close());

function aVolume(name: string): JsonObject {
  const spec = { capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "manual", hostPath: { path: "/data" } };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec };
}

function aClaim(name: string, mode: string, storageClassName: string): JsonObject {
  const spec = { accessModes: [mode], storageClassName, resources: { requests: { storage: "1Gi" } } };
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec };
}

test("kubectl get and describe show a binding from both sides, and the volume is released with its claim", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("bound");
  await kubectl("create -f -", { input: aList(aVolume("disk"), aClaim("data", "ReadWriteOnce", "manual")) });
  await kubectl("wait pvc/data --for=jsonpath={.status.phase}=Bound");

  const columns = (text: string): readonly string[] => text.trim().split(/\s+/).slice(0, 7);
  deepEqual(columns(await kubectl("get pvc data --no-headers")), ["data", "Bound", "disk", "2Gi", "RWO", "manual", "<unset>"]);
  deepEqual(columns(await kubectl("get pv disk --no-headers")), ["disk", "2Gi", "RWO", "Retain", "Bound", "bound/data", "manual"]);
  match(await kubectl("describe pvc data"), /^Annotations: +pv\.kubernetes\.io\/bind-completed: yes$/m);
  match(await kubectl("describe pv disk"), /^Claim: +bound\/data$/m);

  await kubectl("delete pvc data");
  await kubectl("wait pv/disk --for=jsonpath={.status.phase}=Released");
});

const REASONS = [
  ["none", "no persistent volumes available for this claim and no storage class is set"],
  ["missing", 'storageclass.storage.k8s.io "gone" not found'],
] as const;

test("kubectl describe says why a claim waits", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("waiting");
  await kubectl("create -f -", { input: aList(aClaim("none", "ReadWriteMany", ""), aClaim("missing", "ReadWriteMany", "gone")) });

  for (const [name, message] of REASONS) {
    const messages = () => kubectl(`get events --field-selector=involvedObject.name=${name} -o jsonpath={.items[*].message}`);
    await becomes(messages, message);
    ok((await kubectl(`describe pvc ${name}`)).includes(`persistentvolume-controller  ${message}\n`));
  }
});
