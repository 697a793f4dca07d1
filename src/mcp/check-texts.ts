/**
 * Rules for every text that a server sends. What blocks is certain: characters that hide text, the control words of models, a command
 * to a model to leave its instructions or to hand over what is the user's, and commands that an encoding hides. Every other sign is
 * a warning, alone; two of different kinds in one text are no accident, and block. Only a person can judge what a text means.
 */

import {
  controlCharacters,
  decodings,
  hiddenCharacters,
  mixesScripts,
  oddCharacters,
  plainText,
} from './hidden-text.ts';
import { below, error, type Remark, warning } from './pinned-tools.ts';

export function checkCharacters(text: string, path: string): readonly Remark[] {
  return [
    ...(hiddenCharacters(text) ? [error('invisible_characters', 'holds characters that people do not see', path)] : []),
    ...(controlCharacters(text) ? [error('control_characters', 'holds control characters', path)] : []),
    ...(oddCharacters(text)
      ? [error('private_characters', 'holds characters that have no meaning of their own', path)]
      : []),
  ];
}

interface KnownTools {
  readonly others: ReadonlySet<string>;
  readonly own?: ReadonlySet<string> | undefined;
}

/** What is wrong with a text that a model may read, as it stands and decoded. */
function checkWords(text: string, path: string, tools: KnownTools): readonly Remark[] {
  const plain = plainText(text);
  const hidden = decodings(plain).flatMap((decoded) => {
    const inside = signsIn(decoded, tools);
    return inside.length > 0 || isShell(decoded) ? inside.map(({ rule }) => rule).concat('shell') : [];
  });
  const found = signsIn(plain, tools);
  const serious = found.filter(({ kind, isMention }) => kind !== 'look' && isMention !== true);
  const isTogether = new Set(serious.map(({ kind }) => kind)).size > 1;
  const remarks = found.map((one) => {
    const blocks = one.isCertain === true || (isTogether && serious.includes(one));
    return blocks ? error(one.rule, one.message, path) : warning(one.rule, one.message, path);
  });
  const encoded = hidden.length > 0
    ? [error('encoded_text', 'hides a command in an encoding', path)]
    : longRun.test(plain)
    ? [warning('encoded_text', 'holds a long run that looks encoded', path)]
    : [];
  const mixed = mixesScripts(text)
    ? [warning('mixed_scripts', 'holds letters that look like those of another script', path)]
    : [];
  const all = [...remarks, ...encoded, ...mixed];
  const blocking = new Set(all.filter(({ severity }) => severity === 'error').map(({ rule }) => rule));
  const worst = all.filter(({ rule, severity }) => severity === 'error' || !blocking.has(rule));
  return [...new Map(worst.map((remark) => [remark.rule, remark])).values()];
}

const longRun = /(?<![\w+/-])(?=[A-Za-z+/_-]*\d)(?=[\d+/_-]*[A-Za-z])[\w+/-]{80,}/;

/** A sign of a text that speaks to a model. `look` is only worth a look. */
interface Sign {
  readonly rule: string;
  readonly kind: 'orders' | 'address' | 'hides' | 'secrets' | 'tools' | 'outward' | 'look';
  readonly message: string;
  readonly isCertain?: boolean;
  /** Its sentence is about such texts. */
  readonly isMention?: boolean;
}

function signsIn(text: string, tools: KnownTools): readonly Sign[] {
  const sentences = sentencesOf(text);
  return [
    ...(controlWords.test(text) ? [sign('prompt_markup', 'address', 'holds control words of a model', true)] : []),
    ...(speaksToModel(text) ? [sign('prompt_markup', 'address', 'speaks to a model, and not of the tool')] : []),
    ...sentences.flatMap((sentence) => signsOf(sentence, tools)),
    ...[...looks, ...foreignSigns].filter(({ any }) => any.some((one) => one.test(text))).map(({ rule, message }) =>
      sign(rule, 'look', message)
    ),
    ...(isShell(text) ? [sign('shell_command', 'look', 'holds a command of a shell')] : []),
  ];
}

function sign(rule: string, kind: Sign['kind'], message: string, isCertain = false): Sign {
  return { rule, kind, message, isCertain };
}

interface Sentence {
  /** Without what stands in quotes. */
  readonly said: string;
  readonly whole: string;
  /** It is about such texts: an example, a detector, a document. */
  readonly isMention: boolean;
}

function sentencesOf(text: string): readonly Sentence[] {
  return text.split(/(?<=[.!?;])\s+|\n+|[{}[\]<>]+/).filter((part) => part.trim() !== '').map((whole) => ({
    whole,
    said: whole.replaceAll(/(["“”`])(?:(?!\1).){1,200}\1|“[^”]{1,200}”|(?<![a-z])'[^']{1,200}'(?![a-z])/gi, ' … '),
    isMention: mention.test(whole),
  }));
}

const mention =
  /\b(?:detect\w*|scan\w*|flag(?:s|ged)|analy[sz]\w*|recogni[sz]\w*|block(?:s|ed)|guard\w*|sanitiz\w*|such as|e\.g|for example|(?<![.\w])examples?|samples?|mock\w*|expected|fixtures?|illustrat\w*|explain\w*|training|phrases?|attempts?|known as|so[- ]called)\b/i;

function signsOf(sentence: Sentence, tools: KnownTools): readonly Sign[] {
  const { said, whole, isMention } = sentence;
  const signs: Sign[] = [];
  if (overrides.some((one) => one.test(whole))) {
    const isCertain = !isMention && orders.some((one) => isOrder(said, one));
    signs.push(sign('overrides_instructions', 'orders', 'tells a model to leave its instructions', isCertain));
  }
  if (conceals.some((one) => one.test(said)) && !asksFirst.test(said)) {
    signs.push(sign('hides_from_person', 'hides', 'tells a model to keep something from people'));
  }
  if (asksForSecrets(sentence)) {
    const isCertain = !isMention && usersOwn.test(whole) && isOrder(said, handing);
    signs.push(sign('asks_for_secrets', 'secrets', 'is about handing over secrets or the conversation', isCertain));
  }
  if (outward.test(whole) && sending.test(whole) && (secret.test(whole) || everything.test(whole))) {
    signs.push(sign('sends_elsewhere', 'outward', 'is about sending something to another place'));
  }
  if (steersTools(said, tools)) {
    signs.push(sign('commands_other_tools', 'tools', 'tells a model what to do around other tools'));
  }
  if (namesOther(whole, tools)) signs.push(sign('other_tool', 'tools', 'names a tool from elsewhere'));
  return signs.map((one) => ({ ...one, isMention }));
}

/** Matches words of one sentence, near each other. */
function near(...words: readonly string[]): RegExp {
  return new RegExp(words.map((word) => `(?<![\\w-])(?:${word})(?![\\w-])`).join('[^.]{0,80}?'), 'i');
}

/** The verb is an order: it starts the sentence or a clause, or follows "must" and its like; no negation stands before it. */
function isOrder(said: string, verb: RegExp): boolean {
  const at = verb.exec(said);
  if (at === null) return false;
  const before = said.slice(0, at.index);
  if (negation.test(before)) return false;
  return /(?:^|[:,;(\-–—]|\b(?:and|then|also|first|next|please|always|silently|secretly|quietly|must|should|shall|now|instead|simply|finally|you to|you will|need to|have to|and\/or|or))\s*$/i
    .test(before.trimEnd() === '' ? '' : before.trimEnd());
}

const negation =
  /\b(?:not|never|no|don't|doesn't|cannot|can't|won't|mustn't|shouldn't|avoid(?:s|ing)?|without|refrains? from|instead of|rather than|nor|forbid(?:s|den)?|prohibit(?:s|ed)?)\b[^,:;]{0,60}$/i;

const ofModels = 'instructions?|prompts?|directions?|directives?|guardrails?|safeguards?|safety \\w+';
const ofAll = 'rules?|guidelines?|polic(?:y|ies)|constraints?|restrictions?';
const leave = 'ignore|disregard|forget|override|bypass|discard';
const given =
  'previous|prior|above|earlier|preceding|former|all|any|other|your|system|these|existing|original|its|the \\w+';
/** No tool has another use for these words. */
const orders: readonly RegExp[] = [
  near(leave, given, ofModels),
  near(leave, 'your', ofAll),
  near(
    'ignore|disregard|forget',
    'the above|everything (?:above|before|you)|all of the above|what(?:ever)? (?:was|you were)',
  ),
];
const overrides: readonly RegExp[] = [
  ...orders,
  near(leave, given, ofAll),
  near(
    'obey|follow|comply with|execute|treat|accept|act on',
    `${ofModels}|${ofAll}|commands?|requests?`,
    'found|embedded|contained|inside|within|hidden|in the',
  ),
  near(
    'you are now|you must now|enter|switch to',
    'developer|admin|root|unrestricted|jailbr\\w+|god|debug',
    'mode|access|user',
  ),
  near('you are now|act as', '\\w+', 'without', `${ofAll}|limits?|filters?`),
];

/** To act only with consent is the opposite. */
const asksFirst = /\b(?:never|not|n't)\b[^.]{0,60}\bwithout\b/i;

const person = 'users?|humans?|persons?|people|anyone|anybody|operators?|customers?|them|him|her';
const conceals: readonly RegExp[] = [
  near(
    "do not|don't|never|must not|should not|avoid|refrain from",
    'tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|show(?:ing)?|notify(?:ing)?|alert(?:ing)?|disclos(?:e|ing)|expos(?:e|ing)|let',
    `${person}|this (?:step|action|note|instruction)|these (?:steps|instructions)`,
  ),
  near(
    'without',
    'telling|informing|mentioning|notifying|asking|alerting|showing|revealing|(?:their|the user.?s) (?:knowledge|consent)',
  ),
  near(
    'silently|secretly|covertly|quietly|invisibly|discreetly',
    '(?:send|call|use|pass|include|forward|copy|read|add|append|run|upload|execute|delete|install|modify|collect|log)(?:s|es|d|ed|ing)?',
  ),
  near('hide|conceal|keep (?:this|it|that) (?:from|secret|hidden)', `${person}|this|it|that|secret|hidden|from`),
  near('hidden|secret', 'directives?|instructions?|commands?|task'),
];

const secretWords =
  'passwords?(?! reset)|passphrases?|api[ _-]?keys?|credentials?|private keys?|ssh keys?|(?:access|auth|bearer|session|refresh) tokens?|environment variables?|env vars?|secrets?|cookies|clipboard(?: contents?)?|(?:system|hidden|developer) (?:prompts?|instructions?|messages?)|(?:conversation|chat|message) (?:history|logs?)|(?:whole|entire|full|previous) (?:conversation|chat|list of chats)|every message';
const secretPlaces =
  '~/\\.[\\w./-]+|id_(?:rsa|ed25519|ecdsa)|/etc/(?:passwd|shadow)|\\.aws/credentials|mcp\\.json|\\.env(?:\\.\\w+)?|\\.netrc|keychain|wallet\\.dat';
const secretPlace = new RegExp(`(?<![\\w])(?:${secretPlaces})(?![\\w-])`, 'i');
const secret = new RegExp(`(?<![\\w-])(?:${secretWords})(?![\\w-])|${secretPlace.source}`, 'i');
/** What goes to others, in any form; and what every tool does, as an order alone. */
const sends = 'send|post|upload|forward|exfiltrate|leak|transmit|share|append|embed|attach|include|copy|paste|bcc';
const hands =
  `${sends}|put|pass|report|output|reveal|print|write|disclose|dump|steal|harvest|collect|give|provide|tell|return`;
const sending = near(`(?:${sends})(?:s|es|d|ed|ing|ting)?|exfiltrat\\w+|reroutes?|transmitting|forwarding`);
const handing = near(hands);
const takes = near('(?:read|open|load|fetch|get|cat|access)(?:s|ing)?');

/** The verb and the secret stand in one sentence that does not forbid it. */
function asksForSecrets({ said, whole }: Sentence): boolean {
  const found = secret.exec(whole);
  if (found === null) return false;
  if (/\byour (?:system|hidden) (?:prompt|instructions)\b/i.test(whole)) return true;
  const verb = sending.exec(whole) ?? (isOrder(said, handing) ? handing.exec(whole) : null) ??
    (secretPlace.test(whole) ? takes.exec(whole) : null);
  return verb !== null && !negation.test(whole.slice(0, verb.index)) && !negation.test(whole.slice(0, found.index));
}

/** What is the user's, or the model's own: a tool has no use for it. */
const usersOwn = new RegExp(
  `\\busers?(?:'s|’s)\\s(?:[\\w-]+\\s){0,2}(?:${secretWords})|(?:${secretWords})\\b[^.]{0,20}\\b(?:of the user|you can (?:access|read|see)|available to you)|` +
    `(?<![\\w])(?:~/\\.ssh[\\w./-]*|id_(?:rsa|ed25519|ecdsa)|/etc/shadow|\\.aws/credentials|mcp\\.json)|(?:whole|entire|full) (?:conversation|chat)|your (?:system|hidden) (?:prompt|instructions)`,
  'i',
);

const outward =
  /\b(?:external|remote|third[- ]party|outside|collector|exfil\w*)\s+(?:\w+\s+){0,2}(?:server|host|endpoint|site|address|url|domain|inbox)\b|\battackers?\b|\bto\s+(?:https?:\/\/|[\w.+-]+@[\w-]+\.|[\w-]+\.(?:sh|io|net|com|example)\b)|\bbcc\b/i;
/** All of something, whatever it is. */
const everything = /\b(?:each|every|all|cop(?:y|ies) of|contents? of|output of|whole|entire|full)\b/i;

/** Who is spoken to: markup, a role before a colon, or "assistant". */
function speaksToModel(text: string): boolean {
  return /<\/?\s*(?:important|system|instructions?|secret|hidden|admin|assistant|thinking)\b[^<>]{0,100}>|<!--/i.test(
    text,
  ) ||
    /(?=new\s|system|assistant|human|developer)(?<=^|[\n.!?]\s*|##\s*)(?:new\s+)?(?:system|assistant|human|developer)(?:\s+(?:message|prompt|note|override|instructions?))?\s*(?:###?|:)/i
      .test(text) ||
    /\b(?:notes?|instructions?|message|attention|reminder)\s+(?:to|for)\s+(?:the\s+)?(?:assistant|model|llm|ai|agent)\b|\[\s*(?:assistant|system|ai|model)\b[^\]]{0,40}:|\byou are now\b|\bfrom now on\b|\bnew (?:system )?(?:instructions?|message)\s*[:#]/i
      .test(text);
}

const controlWords = /\[\/?INST\]|<\|[a-z_]{1,40}\|>|<<\/?SYS>>|<\/?(?:start|end)_of_turn>/i;

const toolName = '[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+[a-z0-9]*[A-Z]\\w+';
const steering: readonly RegExp[] = [
  near('before|prior to|whenever|after|when|each time', 'any|other|another|every|each|all', 'tools?'),
  near('instead of|rather than|do not use|never use|stop using', 'other|another|any|the', 'tools?'),
  near(
    'modif(?:y|ies)|changes?|alters?|replaces?|overrides?|intercepts?|redirects?|reroutes?',
    'behaviou?r|output|results?|calls?|inputs?|arguments?|destination',
    'of|from|by|to|with',
    `[\\w ]*tool|${toolName}`,
  ),
];
const otherCalled = new RegExp(
  `\\b(?:when(?:ever)?|before|after|each time|every time|if)\\b[^.]{0,40}?\\b(${toolName})\\b[^.]{0,40}?\\b(?:called|invoked|used|runs?|executes?)|\\b(?:must|should|always|first|then|also)\\s+(?:call|invoke|use|run)\\s+(${toolName})\\b|\\bthe\\s+(${toolName})\\s+tool\\b[^.]{0,80}\\b(?:always|instead|replace|never|must)`,
  'i',
);

function steersTools(said: string, { own }: KnownTools): boolean {
  if (steering.some((one) => one.test(said))) return true;
  const name = otherCalled.exec(said)?.slice(1).find((one) => one !== undefined);
  return name !== undefined && /_|[a-z][A-Z]/.test(name) && own?.has(name) !== true;
}

/** Everyday words are no evidence of a name. */
function namesOther(text: string, { others, own }: KnownTools): boolean {
  const words = text.match(/[A-Za-z0-9_-]+/g) ?? [];
  return words.some((word) => others.has(word) && own?.has(word) !== true && /[_-]|[a-z][A-Z]/.test(word));
}

function isShell(text: string): boolean {
  return /\b(?:curl|wget|iwr)\b[^\n|]{1,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\brm\s+-[rf]{1,2}\w*\s+[~/.$*]|\bchmod\s+(?:\+x|[0-7]{3,4})\s+\S+|\b(?:bash|sh|nc|ncat)\s+-[cie]\s|\bpowershell\b[^\n]{0,40}-e|\b(?:eval|exec)\s*\(|\/dev\/tcp\/|\bos\.system\b|\bbase64\s+-d\b[^\n]{0,40}\|/i
    .test(text);
}

/** What is no sign of anything, and still worth a look. */
const looks: readonly { readonly rule: string; readonly message: string; readonly any: readonly RegExp[] }[] = [
  {
    rule: 'pushes_itself',
    message: 'tells a model to prefer this tool',
    any: [
      near('always|must|first', 'call|use|invoke|run', 'this|first'),
      near('only|best|preferred|official', 'tool', 'for|to'),
    ],
  },
  {
    rule: 'address',
    message: 'holds an address',
    any: [/\b(?:https?|ftp|wss?):\/\//i, /\bdata:[a-z]+\//i, /\w@[\w-]+\.[a-z]{2,}/i],
  },
  {
    rule: 'blank_run',
    message: 'holds a long blank, behind which text is overlooked',
    any: [/[ \t\u00a0\u2000-\u200a\u3000]{20,}/, /(?:\r?\n[ \t]*){6,}/],
  },
];

const longText = 8192;

export function checkTexts(value: unknown, tools: KnownTools, path = ''): readonly Remark[] {
  return textsOf(value, path).flatMap(({ text, path: place, isWords }) => {
    const isLong = text.length > longText && place !== '/description';
    return [
      ...(isLong ? [warning('text_length', `is longer than ${longText} characters: read to its end`, place)] : []),
      ...checkCharacters(text, place),
      ...(isWords ? checkWords(text, place, tools) : []),
    ];
  });
}

interface PlacedText {
  readonly text: string;
  readonly path: string;
  /** Whether it is prose for models, and not an identifier, an address or a pattern. */
  readonly isWords: boolean;
}

/** Keywords of JSON Schema, and fields of icons, whose values are no prose. */
const identifiers = new Set(['type', '$schema', '$ref', '$dynamicRef', '$id', '$anchor', 'format', 'pattern', 'src']);

/** Their values are for clients, not for models. */
const forClients = new Set(['_meta', 'icons', 'execution']);

/** Returns every text of a definition, the names of properties too. What was read has at most 64 levels. */
function textsOf(value: unknown, path = '', isWords = true): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path, isWords }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, i) => textsOf(item, below(path, i), isWords));
  return Object.entries(value).flatMap(([key, item]) => {
    const place = below(path, key);
    const words = isWords && !(path === '' && forClients.has(key)) &&
      !(typeof item === 'string' && identifiers.has(key));
    // Names are read by models too.
    if (path === '' && key === 'name' && typeof item === 'string') {
      return [{ text: spaced(item), path: place, isWords }];
    }
    return [{ text: spaced(key), path: place, isWords: words }, ...textsOf(item, place, words)];
  });
}

/** `ignore_previous_instructions` says what it says. */
function spaced(name: string): string {
  return name.replaceAll(/[_.-]+/g, ' ');
}

/** What a person should look at. */
interface ForeignSign {
  readonly rule: string;
  readonly message: string;
  readonly any: readonly RegExp[];
}

const foreignSigns: readonly ForeignSign[] = [
  {
    rule: 'overrides_instructions',
    message: 'may tell a model to leave its instructions',
    any: [
      /(?:ignorier(?:e|t|en)?|missachte\p{L}*|vergiss|vergesst|vergessen|übergeh\p{L}*|verwirf).{0,40}(?:anweisung|regel|vorgabe|instruktion)/iu,
      /(?:ignor[ae]|olvida|olvide|no hagas caso|desatiende|descarta).{0,40}(?:instrucci|regla|órden|indicaci)/iu,
      /(?:ignore[sz]?|oublie[sz]?|ne (?:tiens|tenez) pas compte|fais abstraction).{0,40}(?:instruction|règle|consigne|directive)/iu,
      /(?:ignore|esqueça|esquece|desconsidere|descarte).{0,40}(?:instruç|regras?|ordens)/iu,
      /(?:игнорируй|забудь|пренебреги|не обращай внимания).{0,40}(?:инструкци|правил|указани)/iu,
      /(?:忽略|无视|無視|忘记|忘掉|不要理会).{0,16}(?:指令|规则|规定|指示|提示)/u,
      /(?:指示|ルール|命令|規則).{0,12}(?:無視|忘れ)/u,
      /entwicklermodus|modo (?:de )?desarrollador|mode développeur|modo (?:de )?desenvolvedor|режим\p{L}* разработчика|开发者模式|開発者モード/iu,
    ],
  },
  {
    rule: 'hides_from_person',
    message: 'may tell a model to keep something from people',
    any: [
      /(?:nutzer|anwender|person).{0,40}(?:nicht|nichts|kein)|(?:sage?|teile?|erwähne?|verrate|erzähle?) .{0,40}(?:nicht|nichts)(?!\p{L})|verschweig|verheimlich|(?<!\p{L})heimlich|unbemerkt/iu,
      /(?<!\p{L})no (?:le |les |se lo )?(?:digas|diga|cuentes|menciones|informes|reveles|muestres)|en secreto|secretamente|a escondidas|oculta.{0,30}(?:usuario|persona)/iu,
      /(?<!\p{L})ne (?:le |lui )?(?:dis|dites|mentionne|révèle|informe|parle)\p{L}* (?:pas|rien)|discrètement|en secret|à l.insu|cache[rz]? .{0,40}utilisateur/iu,
      /(?<!\p{L})não (?:conte|diga|mencione|informe|revele|mostre)|em segredo|(?:esconda|oculte).{0,40}usuário/iu,
      /(?<!\p{L})не (?:говори|сообщай|рассказывай|упоминай|показывай)|тайно|скрытно|незаметно|скрой.{0,40}пользовател/iu,
      /(?:不要|请勿|别|勿|不得)(?:告诉|让|通知|向|告知|提及).{0,8}(?:用户|使用者|人)|偷偷|暗中|秘密地/u,
      /(?:ユーザー|利用者).{0,16}(?:知らせない|伝えない|言わない|秘密|内緒|隠し)|こっそり|密かに/u,
    ],
  },
  {
    rule: 'asks_for_secrets',
    message: 'may be about handing over secrets',
    any: [
      /~\/\.ssh|id_(?:rsa|ed25519|ecdsa)|\.aws\/credentials/i,
      /(?:inhalt|contenido|contenu|conteúdo|содержим|内容).{0,24}\.env|\.env.{0,12}(?:inhalt|的内容|の内容)|\.env-datei/iu,
      /(?:übergib|füge|hänge|sende(?!\p{L})|schicke?(?!\p{L})|lade) .{0,60}(?:passw|kennw|schlüssel|zugangsdaten|umgebungsvariab)/iu,
      /(?:passw|kennw|schlüssel|umgebungsvariab).{0,60}(?:anhängen|beifügen|hochladen|(?<!\p{L})hoch(?!\p{L}))/iu,
      /(?:incluye|adjunta|añade|pasa) .{0,60}(?:contraseña|clave|credencial)/iu,
      /(?:mets|joins|ajoute|inclus|transmets) .{0,60}(?:mot de passe|clé|identifiants)/iu,
      /(?:inclua|anexe|adicione|envie) .{0,60}(?:senha|chave|credenciais)/iu,
      /(?:передавай|добавляй|включай|прикладывай|отправь|отправляй) .{0,60}(?:парол|ключ)/iu,
      /(?:包含|附上|附带|传递|放入).{0,16}(?:密码|密钥|凭证)/u,
      /(?:パスワード|キー|認証情報).{0,8}(?:含め|付け|渡し|添付)/u,
    ],
  },
  {
    rule: 'commands_other_tools',
    message: 'may tell a model what to do around other tools',
    any: [
      /(?<!\p{L})(?:vor|bevor) .{0,30}(?:ander|alle)\p{L}* (?:\p{L}+ )?(?:werkzeug|tool)/iu,
      /antes (?:de|que) .{0,24}(?:otra|demás|cualquier).{0,16}herramienta/iu,
      /avant .{0,30}autre.{0,8} outil/iu,
      /antes de .{0,24}(?:outra|qualquer).{0,16}ferramenta/iu,
      /перед .{0,30}(?:друг|все)\p{L}* (?:\p{L}+ )?инструмент/iu,
      /(?:调用|使用)(?:其他|其它|任何)工具之?前/u,
      /他のツール.{0,12}前/u,
    ],
  },
];
