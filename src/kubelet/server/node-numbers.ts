/** What the machine of a node uses, as whoever can look at it tells the server. Everything that is not known is left out. Only types. */
import type { FilesystemNumbers } from "../pod-storage.ts";
import type { UsageStats } from "../runtime.ts";

export interface NodeNumbers extends Partial<UsageStats> {
  /** When the machine began to run. */
  readonly startedAtMs?: number;
  readonly memoryAvailableBytes?: number;
  readonly network?: NetworkNumbers;
  /** Of the node itself, of images, and of what containers write. */
  readonly rootFilesystem?: FilesystemNumbers;
  readonly imageFilesystem?: FilesystemNumbers;
  readonly containerFilesystem?: FilesystemNumbers;
  readonly processes?: { readonly running: number; readonly max: number };
}

export interface NetworkNumbers {
  /** Of the interface with the way out: "eth0". */
  readonly name: string;
  readonly rxBytes: number;
  readonly txBytes: number;
}

export type NodeNumbersSource = () => Promise<NodeNumbers>;
