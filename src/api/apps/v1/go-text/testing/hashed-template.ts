/** Makes Pod templates whose hash is known from upstream. */
import type { Container, PodSpec, PodTemplateSpec, VolumeProjection, Volume } from "../../../../generated/core/v1.ts";

export interface HashedTemplate {
  readonly has: string;
  readonly hash: string;
  readonly template: PodTemplateSpec;
  readonly collisionCount?: number;
}

/** As stored by the server, with defaults. */
export const STORED: PodTemplateSpec = {
  metadata: { labels: { app: "web" } },
  spec: {
    containers: [
      {
        name: "app",
        image: "registry.example/app:1",
        imagePullPolicy: "IfNotPresent",
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        ports: [{ containerPort: 80, protocol: "TCP" }],
      },
    ],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  },
};

export function withSpec(spec: Partial<PodSpec>): PodTemplateSpec {
  return { ...STORED, spec: { containers: [], ...STORED.spec, ...spec } };
}

export function withContainer(container: Partial<Container>): PodTemplateSpec {
  return withSpec({ containers: [{ name: "app", image: "registry.example/app:1", ...container }] });
}

export function withVolume(...sources: readonly Omit<Volume, "name">[]): PodTemplateSpec {
  return withSpec({ volumes: sources.map((source, index) => ({ name: `v${index}`, ...source })) });
}

export function withProjections(...sources: readonly VolumeProjection[]): PodTemplateSpec {
  return withVolume({ projected: { sources, defaultMode: 420 } });
}

export function withMemory(...amounts: readonly string[]): PodTemplateSpec {
  return withSpec({
    containers: amounts.map((memory, index) => ({ name: `c${index}`, resources: { limits: { memory }, requests: { memory } } })),
  });
}

export const SELECTOR = {
  matchLabels: { app: "web", tier: "a" },
  matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }],
} as const;
