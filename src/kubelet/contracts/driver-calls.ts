/**
 * Calls of the control plane to the controller service of a storage driver on this node, whose socket only the node reaches. They are
 * requests to the kubelet's server, with the messages as bytes: POST /csi/<driver>/<service>/<method>. The kubelet authorizes them like
 * nodes/proxy. A failure of the driver is a response with code 200, too, whose headers have its gRPC code and message.
 */
export interface DriverCalls {
  /** `method` is "/csi.v1.Controller/CreateVolume". Never rejects. */
  call(driver: string, method: string, request: Uint8Array, signal: AbortSignal): Promise<DriverAnswer>;
}

export type DriverAnswer =
  | { readonly is: "answer"; readonly message: Uint8Array }
  /** `code` is gRPC's: "NOT_FOUND". */
  | { readonly is: "failed"; readonly code: string; readonly message: string }
  /** No driver of this name is registered on the node. */
  | { readonly is: "missing" };

/** Services that the control plane calls; that of the node is the kubelet's own. */
export const CALLED_SERVICES: ReadonlySet<string> = new Set(["csi.v1.Controller", "csi.v1.Identity"]);

/** gRPC's code, by name; "OK" for an answer. */
export const CODE_HEADER = "csi-code";
/** Percent-encoded. */
export const MESSAGE_HEADER = "csi-message";

export function driverCallPath(driver: string, method: string): string {
  return `/csi/${encodeURIComponent(driver)}${method}`;
}
