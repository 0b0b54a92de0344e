/** Requests of the control plane to the kubelets of other nodes, over the API server's connection to them. */
import type { Node } from "../../api/generated/core/v1.ts";
import type { NodeConnector } from "../../apiserver/framework/node-connector.ts";
import { answerBytes } from "../../apiserver/shared/answer-bytes.ts";
import { kubeletAddress } from "../../apiserver/shared/kubelet-address.ts";

export interface KubeletRequest {
  readonly path: string;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface KubeletResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** POST to the kubelet of a node, with the API server's credentials. Rejects if it does not respond. */
export type CallKubelet = (node: Node, request: KubeletRequest) => Promise<KubeletResponse>;

/** Responses of drivers are small; a larger one is a mistake or an attempt to exhaust memory. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

export interface KubeletCallerOptions {
  /** Undefined while the API server starts. */
  connector(): NodeConnector | undefined;
  /** In order of preference. */
  readonly addressTypes: readonly string[];
}

export function kubeletCaller({ connector, addressTypes }: KubeletCallerOptions): CallKubelet {
  return async (node, { path, body, signal }) => {
    const connection = connector();
    if (connection === undefined) throw new Error("this API server has no connection to nodes");
    const answer = await connection.connect({
      subresource: "kubelet",
      target: { is: "kubelet", node: kubeletAddress(node, addressTypes) },
      ...{ options: {}, method: "POST", path, query: "", headers: { "content-type": "application/octet-stream" } },
      body: () => Promise.resolve(body),
      signal,
    });
    if (!("code" in answer)) throw new Error("the kubelet upgraded the connection");
    return { code: answer.code, headers: answer.headers, body: await answerBytes(answer, RESPONSE_BYTES_MAX, signal) };
  };
}
