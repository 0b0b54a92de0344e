/** Scenarios of a node that joins the cluster: with a bootstrap token first, then with a certificate. */
import { configMaps } from "../../src/api/core/v1/config-map.ts";
import { bootstrapTokenSecret } from "../../src/testing/fixtures/bootstrap-tokens.ts";
import { certificateSigningRequest } from "../../src/testing/fixtures/certificate-requests.ts";
import { createObject } from "../../src/testing/given.ts";
import { scenario } from "./scenario.ts";

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
const SIGNS = { "usage-bootstrap-signing": "true" };
const NODE = { organizations: ["system:nodes"], commonName: "system:node:a" };

const ofKubelet = (name: string, usages: readonly string[]) =>
  certificateSigningRequest(name, NODE, { signerName: "kubernetes.io/kube-apiserver-client-kubelet", usages });

export const certificateScenarios = [
  scenario({
    it: "kubelets' certificate requests are approved and signed, and not cleaned up before they expire",
    tries: [
      "certificatesigningrequest-approving-controller",
      "certificatesigningrequest-signing-controller",
      "certificatesigningrequest-cleaner-controller",
    ],
    objects: [ofKubelet("one", ["client auth", "digital signature"]), ofKubelet("another", ["client auth"])],
    restMs: 20_000,
    steps: [async ({ client }) => createObject(client, ofKubelet("late", ["client auth", "digital signature"]))],
  }),
  scenario({
    it: "a bootstrap token signs cluster-info until it expires and is deleted",
    tries: ["bootstrap-signer-controller", "token-cleaner-controller"],
    objects: [
      { apiVersion: "v1", kind: "ConfigMap", metadata: CLUSTER_INFO, data: { kubeconfig: "where it is" } },
      bootstrapTokenSecret("aaaaaa", { ...SIGNS, expiration: "2026-01-01T00:00:05Z" }),
      bootstrapTokenSecret("bbbbbb", SIGNS),
    ],
    restMs: 20_000,
    steps: [
      async ({ client }) => {
        const value = { data: { kubeconfig: "elsewhere" } };
        await client.patch(configMaps, CLUSTER_INFO, { type: "merge", value });
      },
    ],
  }),
];
