/** A small application: what the pages and the pictures of the documents show. */

const labels = (app: string) => ({ metadata: { labels: { app } } });

export const SHOP: readonly object[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: "web" } },
      template: { ...labels("web"), spec: { containers: [{ name: "nginx", image: "nginx:1", ports: [{ containerPort: 80 }] }] } },
    },
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "shop" },
    spec: {
      replicas: 2,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: { ...labels("db"), spec: { containers: [{ name: "postgres", image: "postgres:18" }] } },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "db", namespace: "shop" },
    spec: { clusterIP: "None", selector: { app: "db" }, ports: [{ port: 5432 }] },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "site", namespace: "shop" },
    spec: {
      rules: [
        {
          host: "shop.example",
          http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }] },
        },
      ],
    },
  },
];

/** As one list, for kubectl. */
export function listOf(...items: readonly object[]): object {
  return { apiVersion: "v1", kind: "List", items };
}

export const SHOP_LIST = listOf(...SHOP);

/** Logs with colours, repeated, and an echo as its only shell: of simulated containers. */
const CHATTY = {
  "simulated.k8ts.dev/logs":
    "listening on port 80\n\u001B[32mGET\u001B[0m /index.html 200\n\u001B[33mwarning\u001B[0m: slow client\n\u001B[31merror\u001B[0m: upstream timed out <script>alert(1)</script>\n",
  "simulated.k8ts.dev/log-every": "200ms",
  "simulated.k8ts.dev/log-repeat": "true",
  "simulated.k8ts.dev/exec": JSON.stringify({ sh: { echo: true }, "*": { exitCode: 127, stderr: "not found" } }),
};

export const CHAT: object = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "chat", namespace: "shop" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "chat" } },
    template: {
      metadata: { labels: { app: "chat" }, annotations: CHATTY },
      spec: {
        containers: [
          { name: "server", image: "chat:1" },
          { name: "proxy", image: "proxy:1" },
        ],
      },
    },
  },
};

/** A ServiceAccount `reader` that may read Pods and their logs in namespace shop, and nothing else. */
export const READER: readonly object[] = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "reader", namespace: "shop" } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "pod-reader", namespace: "shop" },
    rules: [{ apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list", "watch"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "pod-readers", namespace: "shop" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "pod-reader" },
    subjects: [{ kind: "ServiceAccount", name: "reader", namespace: "shop" }],
  },
];

/** Needs more than any node has. */
export const BIG: object = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "big", namespace: "shop" },
  spec: { containers: [{ name: "server", image: "big:1", resources: { requests: { cpu: "1000" } } }] },
};
