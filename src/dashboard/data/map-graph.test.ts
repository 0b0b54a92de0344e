import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { mapGraph, type MapInput } from "./map-graph.ts";
import { mapLayout } from "./map-layout.ts";

function object(kind: string, name: string, rest: object = {}, namespace = "shop"): KubeObject {
  return { apiVersion: "v1", kind, metadata: { name, namespace, uid: `uid-${name}` }, ...rest };
}

function owned(kind: string, name: string, owner: { readonly kind: string; readonly name: string }, rest: object = {}): KubeObject {
  const ownerReferences = [{ apiVersion: "apps/v1", ...owner, uid: `uid-${owner.name}`, controller: true }];
  return { apiVersion: "v1", kind, metadata: { name, namespace: "shop", uid: `uid-${name}`, ownerReferences }, ...rest };
}

const INPUT: MapInput = {
  nodes: [object("Node", "node-1", { status: { conditions: [{ type: "Ready", status: "True" }] } }, "")],
  pods: [
    owned("Pod", "web-1", { kind: "ReplicaSet", name: "web-rs" }, { spec: { nodeName: "node-1" }, status: { phase: "Running" } }),
    owned(
      "Pod",
      "db-0",
      { kind: "StatefulSet", name: "db" },
      {
        status: { phase: "Pending", containerStatuses: [{ state: { waiting: { reason: "ErrImagePull" } } }] },
      },
    ),
  ],
  replicaSets: [owned("ReplicaSet", "web-rs", { kind: "Deployment", name: "web" })],
  services: [object("Service", "web", { spec: { type: "ClusterIP" } })],
  endpointSlices: [
    {
      ...object("EndpointSlice", "web-abc", {
        endpoints: [{ targetRef: { kind: "Pod", name: "web-1" } }, { targetRef: { kind: "Pod", name: "gone" } }],
      }),
      metadata: { name: "web-abc", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
    },
  ],
  ingresses: [
    object("Ingress", "site", {
      spec: { rules: [{ http: { paths: [{ backend: { service: { name: "web" } } }, { backend: { service: { name: "none" } } }] } }] },
    }),
  ],
};

test("the map connects Ingress, Service, workload, Pod and Node, and no object that does not exist", () => {
  const { items, edges } = mapGraph(INPUT);

  deepEqual(edges.map(({ from, to, means }) => `${from} ${means} ${to}`).sort(), [
    "Ingress:shop/site routes Service:shop/web",
    "Pod:shop/web-1 runs on Node:/node-1",
    "Service:shop/web routes Pod:shop/web-1",
    "Workload:shop/Deployment/web owns Pod:shop/web-1",
    "Workload:shop/StatefulSet/db owns Pod:shop/db-0",
  ]);
  const statusOf = (name: string) => items.find((item) => item.name === name)?.status;
  deepEqual([statusOf("web-1"), statusOf("db-0"), statusOf("node-1")], ["Running", "ErrImagePull", "Ready"]);
});

test("the layout is deterministic, and no two items overlap", () => {
  const layout = mapLayout(mapGraph(INPUT));

  deepEqual(mapLayout(mapGraph(INPUT)), layout);
  equal(new Set(layout.items.map(({ x, y }) => `${x} ${y}`)).size, layout.items.length);
  deepEqual(
    layout.heads.map(({ column }) => column),
    ["Ingress", "Service", "Workload", "Pod", "Node"],
  );
  deepEqual(mapLayout({ items: [], edges: [] }).items, []);
});
