import { deepEqual, equal } from "node:assert/strict";
import test from "node:test";
import { all } from "../../src/api/all.ts";
import { apiVersionOf, type JsonObject } from "../../src/api/machinery/object.ts";
import { startGuardedServer, type StartedServer } from "../../src/apiserver/testing/server.ts";
import { kindOf, readGoldens, type Golden, type ServedKind } from "./golden.ts";
import { runGolden } from "./run-golden.ts";

const NAMESPACE = "golden";

/** They exist only while a kubelet reports usage: apiserver/resources/resource-metrics tests them. */
const MEASURED = ["metrics.k8s.io/v1beta1 NodeMetrics", "metrics.k8s.io/v1beta1 PodMetrics"];

test("every kind and version has a golden file", () => {
  const served = all.flatMap(({ kind, served: versions }) => versions.map((version) => `${apiVersionOf(version)} ${kind}`));
  const golden = readGoldens().map(({ given }) => `${given.apiVersion} ${given.kind}`);

  deepEqual([...golden, ...MEASURED].toSorted(), served.toSorted());
});

for (const golden of readGoldens()) {
  test(`${golden.given.apiVersion} ${golden.given.kind} matches its golden file`, async () => {
    // Only the test writes: Priority and Fairness would write the condition of a FlowSchema.
    await using started = await startGuardedServer({ config: { priorityAndFairness: false } });
    await started.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });

    const { versionsOfRoundTrip, ...actual } = await runGolden(golden, started.call, NAMESPACE);

    deepEqual(actual, expected(golden));
    if (versionsOfRoundTrip !== undefined)
      equal(versionsOfRoundTrip[1], versionsOfRoundTrip[0], "its protobuf form changed in a round trip");
    deepEqual(await discovered(started, kindOf(golden.given)), golden.discovery);
  });
}

function expected({ defaulted, table, wide, causes = [] }: Golden): object {
  return { defaulted, causes, ...(table === undefined ? {} : { table }), ...(wide === undefined ? {} : { wide }) };
}

/** Discovery entries of a kind and its subresources. The hash of the storage version is opaque. */
async function discovered({ call }: StartedServer, { resource, served }: ServedKind): Promise<readonly JsonObject[]> {
  const path = served.group === "" ? `/api/${served.version}` : `/apis/${served.group}/${served.version}`;
  const { resources } = (await call("GET", path)).body as { readonly resources: readonly (JsonObject & { readonly name: string })[] };
  return resources
    .filter(({ name }) => name === resource.plural || name.startsWith(`${resource.plural}/`))
    .map(({ storageVersionHash: _hash, ...entry }) => entry);
}
