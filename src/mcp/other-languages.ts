/**
 * Signs of texts that speak to a model in German, Spanish, French, Portuguese, Russian, Chinese or Japanese. These are rougher than the
 * rules for English, so they never block: a person sees a warning. Each pattern is about imperatives: a tool that sends a link for a
 * forgotten password says so in the third person.
 */

/** What a person should look at. */
export interface ForeignSign {
  readonly rule: string;
  readonly message: string;
  readonly any: readonly RegExp[];
}

export const foreignSigns: readonly ForeignSign[] = [
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
