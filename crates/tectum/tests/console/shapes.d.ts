// What the house tells the console, for the type check of the page. Nothing here is shipped.

interface ConsoleEvent { id: number; at: string; kind: string; data: any }

interface Flight { call: string; tool: string; session: string; client: string; began: string; subject: string }

interface Call {
  call: string; at: string; tool: string; server: string | null; session: string; client: string; subject: string;
  ok: boolean; fault: string | null; message: string | null; verdict: string;
  took_ms: number; tokens_in: number; tokens_out: number;
}

interface Question {
  id: string; kind: 'call' | 'ask' | 'step' | 'spawn' | 'plan'; session: string; client: string; caller: string;
  tool: string; subject: string; arguments: any; digest: string;
  rule: { text: string; file: string | null; line: number | null };
  paths: { path: string; exists: boolean; hash: string | null }[];
  preview: { kind: 'diff' | 'text'; text: string } & { kind: 'diff' } | { kind: 'text'; text: string }
    | { kind: 'command'; command: string; folder: string } | { kind: 'address'; url: string }
    | { kind: 'definition'; server: string; definition: any } | { kind: 'none' };
  sandbox: string | null; before: { approved: number; denied: number; failed: number };
  asked_at: number; shown_at: number | null; expires_at: number; data: any;
}

interface Server {
  name: string; state: string; era: string | null; version: string | null; transport: string; command: string | null; url: string | null;
  from: { file: string; line: number | null } | null; tools: number; since: string | null; deaths: { at: string; why: string }[];
  hint?: string | null; cwd?: string | null; env?: any[]; headers?: any[]; starts?: number;
  error: string | null; stderr: string[]; trust: 'needed' | 'given' | 'not needed'; approvals: { tool: string; was: string | null; is: string; diff: string }[];
}

interface Now {
  at: string; last_event: string | number | null; house: any; doing: string; client: { name: string; version: string } | null;
  session: any; calls: Flight[]; questions: Question[]; servers: Server[]; errors: any[]; terminal: string; may_answer?: boolean;
}

interface ConsoleScreen {
  id: string; name: string;
  view: (place: import('../../console/router.js').Place) => import('../../console/view.js').Child;
  /** Told of the place, and whether another screen was in view before. */
  enter?: (place: import('../../console/router.js').Place, arrived: boolean) => void;
  leave?: () => void;
}
