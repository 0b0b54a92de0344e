/** The page's own texts in the languages of the lessons. Pure. */

export const LANGUAGES = ["en", "ko"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Texts {
  readonly languageName: string;
  readonly lessons: string;
  readonly dashboard: string;
  readonly prompt: string;
  readonly editor: string;
  readonly time: string;
  readonly pause: string;
  readonly step: string;
  readonly speed: (factor: number) => string;
  readonly newCluster: string;
  readonly starting: string;
  readonly introduction: string;
  readonly startLesson: string;
  readonly previous: string;
  readonly next: string;
  readonly allLessons: string;
  readonly run: string;
  readonly edit: string;
  readonly done: string;
  readonly notDone: string;
  readonly question: string;
  readonly stepOf: (step: number, count: number) => string;
  readonly finished: string;
  readonly apply: string;
  readonly dryRun: string;
  readonly file: string;
  readonly newFile: string;
  readonly welcome: string;
  readonly stop: string;
  readonly failed: string;
  readonly language: string;
}

const en: Texts = {
  languageName: "English",
  lessons: "Lessons",
  dashboard: "Dashboard",
  prompt: "Prompt",
  editor: "Editor",
  time: "Time of the cluster",
  pause: "Pause",
  step: "Step 1 s",
  speed: (factor) => `Speed ×${factor}`,
  newCluster: "New cluster",
  starting: "Starting a cluster in this tab …",
  introduction:
    "A Kubernetes control plane runs in this tab: API server, controllers, scheduler and three simulated nodes. Nothing is sent anywhere. Each lesson starts with a new cluster.",
  startLesson: "Start",
  previous: "Back",
  next: "Next",
  allLessons: "All lessons",
  run: "Run",
  edit: "Open in the editor",
  done: "Done",
  notDone: "Not yet",
  question: "The cluster is asked",
  stepOf: (step, count) => `Step ${step} of ${count}`,
  finished: "The lesson is complete.",
  apply: "Apply",
  dryRun: "Dry run",
  file: "File",
  newFile: "New file",
  welcome: 'Enter kubectl commands, or "help". Tab completes, ↑ repeats.',
  stop: "Stop (Ctrl+C)",
  failed: "The cluster has stopped:",
  language: "Language",
};

const ko: Texts = {
  languageName: "한국어",
  lessons: "레슨",
  dashboard: "대시보드",
  prompt: "프롬프트",
  editor: "편집기",
  time: "클러스터 시간",
  pause: "일시 정지",
  step: "1초 진행",
  speed: (factor) => `속도 ×${factor}`,
  newCluster: "새 클러스터",
  starting: "이 탭에서 클러스터를 시작하는 중 …",
  introduction:
    "이 탭에서 쿠버네티스 컨트롤 플레인이 실행된다. API 서버, 컨트롤러, 스케줄러, 그리고 시뮬레이션 노드 세 개가 있다. 어디로도 데이터를 보내지 않는다. 레슨마다 새 클러스터로 시작한다.",
  startLesson: "시작",
  previous: "이전",
  next: "다음",
  allLessons: "전체 레슨",
  run: "실행",
  edit: "편집기에서 열기",
  done: "완료",
  notDone: "아직 완료되지 않음",
  question: "완료 조건",
  stepOf: (step, count) => `${count}단계 중 ${step}단계`,
  finished: "레슨을 마쳤다.",
  apply: "적용",
  dryRun: "드라이런",
  file: "파일",
  newFile: "새 파일",
  welcome: 'kubectl 명령이나 "help"를 입력한다. Tab은 자동 완성, ↑는 이전 명령이다.',
  stop: "중지 (Ctrl+C)",
  failed: "클러스터가 멈추었다:",
  language: "언어",
};

export const TEXTS: Readonly<Record<Language, Texts>> = { en, ko };

export function languageOf(...wanted: readonly (string | undefined)[]): Language {
  for (const text of wanted) {
    const found = LANGUAGES.find((language) => text?.toLowerCase().split("-")[0] === language);
    if (found !== undefined) return found;
  }
  return "en";
}
