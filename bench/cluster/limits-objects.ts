/** The Pods of limits.ts. */

/** Small enough that 110 fit on a simulated node. */
const REQUESTS = { cpu: "20m", memory: "50Mi" };

export function podOf(index: number, namespace: string, name: string) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, labels: { app: `app-${index % 500}` } },
    spec: { containers: [{ name: "web", image: "web:1", resources: { requests: REQUESTS } }] },
  } as const;
}
