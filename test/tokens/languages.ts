/** Pieces of sentences in ten languages, of our own: a beginning, a middle and an end make a sentence. */

export interface Pieces {
  readonly begin: readonly string[];
  readonly middle: readonly string[];
  readonly end: readonly string[];
}

const list = (text: string): string[] => text.split("|").map((piece) => piece.trim());

export const LANGUAGES: Readonly<Record<string, Pieces>> = {
  english: {
    begin: list("The baker|My neighbour's daughter|An old lighthouse keeper|Every second engineer|The committee"),
    middle: list(
      "carefully counted the loaves|couldn't remember the password|repaired three bicycles|asked for a receipt",
    ),
    end: list("before sunrise.|because the bridge was closed.|without telling anyone!|in less than forty minutes."),
  },
  german: {
    begin: list(
      "Die Nachbarin|Der Straßenbahnfahrer|Unser Rechnungsprüfungsausschuss|Jede zweite Schülerin|Ein Müller",
    ),
    middle: list("überprüft die Übertragungsgeschwindigkeit|sammelt seit Jahren Briefmarken|vergaß den Hausschlüssel"),
    end: list(
      "noch vor dem Frühstück.|obwohl es draußen schneite.|zur großen Überraschung aller!|am Donnerstagnachmittag.",
    ),
  },
  french: {
    begin: list("La boulangère|Notre voisin d'en face|Un élève très appliqué|L'équipe de nuit|Chaque été, le facteur"),
    middle: list("a compté les pièces|n'avait pas reçu la lettre|répare de vieilles horloges|cherche une clé perdue"),
    end: list("avant l'aube.|parce qu'il pleuvait à verse.|sans prévenir personne !|en moins d'une demi-heure."),
  },
  spanish: {
    begin: list(
      "La panadera|Nuestro vecino del tercero|Una niña muy curiosa|El equipo de guardia|Cada año, el cartero",
    ),
    middle: list("contó las monedas|no encontró la dirección|arregla relojes antiguos|pidió otra explicación"),
    end: list("antes del amanecer.|porque llovía muchísimo.|¡sin avisar a nadie!|en menos de veinte minutos."),
  },
  russian: {
    begin: list("Соседка с третьего этажа|Молодой инженер|Каждый второй школьник|Старый смотритель маяка|Наша бригада"),
    middle: list("пересчитала все монеты|забыл пароль от почты|починил три велосипеда|попросила показать квитанцию"),
    end: list("ещё до рассвета.|потому что мост был закрыт.|никого не предупредив!|меньше чем за полчаса."),
  },
  chinese: {
    begin: list("面包店的老板娘|隔壁的工程师|每一位学生|守灯塔的老人|我们的夜班小组|昨天来的邮递员"),
    middle: list("仔细数了三遍零钱|忘记了邮箱的密码|修好了一辆旧自行车|向柜台要了一张收据|在图书馆查阅资料"),
    end: list("，天还没亮就出门了。|，因为大桥正在施工。|，谁也没有告诉！|，前后不到四十分钟。"),
  },
  japanese: {
    begin: list("パン屋の奥さんは|隣に住むエンジニアは|多くの学生たちは|灯台守の老人は|夜勤のチームは"),
    middle: list("小銭を三回も数えて|メールのパスワードを忘れて|古い自転車を修理して|窓口で領収書を頼んで"),
    end: list(
      "、夜明け前に出かけました。|、橋が工事中だと知りました。|、誰にも言いませんでした！|、四十分で戻りました。",
    ),
  },
  arabic: {
    begin: list("صاحبة المخبز|جارنا المهندس|كل طالب في الصف|حارس المنارة العجوز|فريق المناوبة الليلية"),
    middle: list("عدّت النقود ثلاث مرات|نسي كلمة مرور البريد|أصلح دراجة قديمة|طلب إيصالاً من الموظف"),
    end: list("قبل شروق الشمس.|لأن الجسر كان مغلقاً.|دون أن يخبر أحداً!|في أقل من أربعين دقيقة."),
  },
  hindi: {
    begin: list("बेकरी की मालकिन ने|हमारे पड़ोसी इंजीनियर ने|हर दूसरे विद्यार्थी ने|बूढ़े चौकीदार ने|रात की टोली ने"),
    middle: list("सिक्के तीन बार गिने|डाक का पासवर्ड फिर से माँगा|पुरानी साइकिल ठीक की|खिड़की पर रसीद माँगी"),
    end: list("सूरज निकलने से पहले।|क्योंकि पुल बंद था।|किसी को बताए बिना!|चालीस मिनट से भी कम समय में।"),
  },
  korean: {
    begin: list("빵집 주인은|옆집 기술자는|두 번째 줄의 학생은|등대를 지키는 노인은|야간 근무조는"),
    middle: list("잔돈을 세 번이나 세고|메일 비밀번호를 잊어버려서|낡은 자전거를 고치고|창구에서 영수증을 부탁하고"),
    end: list("해가 뜨기 전에 떠났다.|다리가 막힌 것을 알았다.|아무에게도 말하지 않았다!|사십 분 만에 돌아왔다."),
  },
};
