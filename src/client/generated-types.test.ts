/** A custom resource with a type as generators write it from the schema of a definition: every member optional, and open for others. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { customResourceDefinitions } from "../api/apiextensions.k8s.io/v1/custom-resource-definition.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { given } from "../testing/given.ts";
import type { ResourceKind } from "./client.ts";
import { createInformers } from "./informer/informers.ts";

/** As json-schema-to-typescript and similar programs write it. */
interface GeneratedCronTab {
  apiVersion?: string;
  kind?: string;
  metadata?: { [name: string]: unknown };
  spec: { cronSpec: string; replicas?: number; [name: string]: unknown };
  status?: { replicas?: number; [name: string]: unknown };
}

type CronTab = KubeObject & GeneratedCronTab;

const cronTabs: ResourceKind<CronTab> = {
  kind: "CronTab",
  plural: "crontabs",
  scope: "Namespaced",
  storage: { group: "example.com", version: "v1" },
};

const properties = {
  spec: { type: "object", required: ["cronSpec"], properties: { cronSpec: { type: "string" }, replicas: { type: "integer", default: 1 } } },
  status: { type: "object", properties: { replicas: { type: "integer" } } },
};

test("a generated type, joined with KubeObject, types the calls of a client and the objects of an informer", async () => {
  await using cluster = await given();
  const { client } = cluster;
  const names = { plural: "crontabs", singular: "crontab", kind: "CronTab", listKind: "CronTabList" };
  const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
  await client.create(customResourceDefinitions, {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "crontabs.example.com" } },
    spec: {
      ...{ group: "example.com", scope: "Namespaced", names },
      versions: [{ ...version, schema: { openAPIV3Schema: { type: "object", properties } } }],
    },
  });
  await cluster.settled();

  const metadata = { namespace: "default", name: "nightly" };
  const created = await client.create(cronTabs, {
    apiVersion: "example.com/v1",
    kind: "CronTab",
    metadata,
    spec: { cronSpec: "0 3 * * *" },
  });
  const replicas: number | undefined = created.spec.replicas;
  const scaled = await client.update(cronTabs, { ...created, spec: { ...created.spec, replicas: 2 } });
  await using informers = createInformers({
    ...{ transport: cluster.server.transport(), clock: cluster.clock, random: seededRandom(1), log: silentLogger },
  });
  const informer = informers.of(cronTabs);
  const seen: (number | undefined)[] = [];
  informer.listen({
    added: ({ spec }) => void seen.push(spec.replicas),
    updated: ({ status }) => void seen.push(status?.replicas),
    deleted: () => undefined,
  });
  await cluster.settled();
  await client.updateStatus(cronTabs, { ...scaled, status: { replicas: 2 } });
  await cluster.settled();
  const { items } = await client.list(cronTabs, { namespace: "default" });

  equal(replicas, 1);
  deepEqual(seen, [2, 2]);
  deepEqual(
    items.map(({ metadata: { name }, spec, status }) => [name, spec.cronSpec, spec.replicas, status?.replicas]),
    [["nightly", "0 3 * * *", 2, 2]],
  );
});
