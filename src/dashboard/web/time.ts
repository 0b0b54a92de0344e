/** Hooks of the page: the instant that it shows, and the recording that it shows instead of the cluster. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ClusterApi } from "../data/cluster-api.ts";
import type { ClusterConnection } from "../data/connection.ts";
import { parseRecording } from "../data/recording/parse-recording.ts";
import { RECORDING_BYTES_MAX, type Recording } from "../data/recording/recording.ts";
import { pastConnection, type Instant } from "../data/time/past-connection.ts";
import type { Browser, ChosenFile } from "./page/browser.ts";
import type { Context } from "./views/view.ts";

export interface OpenProps {
  /** Lets the user choose the file of a recording. */
  openRecording(): void;
  /** Why the last file could not be opened. */
  readonly fileProblem: string | undefined;
}

interface ShownInstant {
  readonly at: Instant | undefined;
  goTo(instant: Instant | undefined): void;
  /** The context of views in the past. */
  readonly past: Pick<Context, "api" | "browser"> | undefined;
}

/** Without an instant: now. */
export function useInstant(browser: Browser, connection: ClusterConnection): ShownInstant {
  const [at, goTo] = useState<Instant | undefined>(undefined);
  const past = useMemo(() => {
    if (at === undefined) return undefined;
    const clock = { ...browser.clock, now: () => at.timeMs };
    return { api: new ClusterApi(pastConnection(connection, at)), browser: { ...browser, clock } };
  }, [browser, connection, at]);
  return { at, goTo, past };
}

interface ShownRecordings {
  readonly recording: Recording | undefined;
  /** Different for each file. */
  readonly key: string;
  readonly problem: string | undefined;
  open(): void;
  close(): void;
}

/** Files come from a choice, or are dropped on the page. */
export function useRecordings(browser: Browser): ShownRecordings {
  const [recording, setRecording] = useState<Recording | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const read = async (file: ChosenFile | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      if (file.sizeBytes > RECORDING_BYTES_MAX) throw new Error(`Cannot open ${file.name}: it is larger than 128 MB`);
      setRecording(parseRecording(await file.text()));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  useEffect(() => browser.onFileDrop((file) => void read(file)), [browser]);
  return {
    recording,
    key: recording === undefined ? "" : `${recording.from.revision}-${recording.to.revision}`,
    problem,
    open: () => void browser.chooseFile().then(read),
    close: () => setRecording(undefined),
  };
}
