/** The authenticated client of a request to the kubelet's server. Only a type. */

export interface KubeletUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
