"""More given names and surnames, by parts of the world, from general knowledge; no real person's data."""


def _split(text):
    return [w.replace("_", " ") for w in text.split()]


# part of the world: (given names, surnames)
CULTURES = {
    "horn_of_africa": (
        _split("""Abebe Abel Abraham Abrehet Addis Afewerki Alem Alemayehu Almaz Amanuel Araya Aster Ayana Ayele Bekele Berhane Bereket Berhanu Biniam Bisrat Dawit
Daniel Debesay Dejen Desta Eden Efrem Elsa Ermias Eyob Fasil Fikre Filmon Feven Genet Getachew Ghebre Girma Haben Haile Haylom Helen Hiwot Idris
Isaias Kebede Kidane Kidist Lemlem Luwam Mahder Makda Mebrahtu Mehari Mekonnen Meles Meron Merhawi Mihret Mulu Mussie Natnael Negash Rahel Rahwa Robel
Ruta Saba Samrawit Segen Selam Selamawit Semere Senait Simret Solomon Tadesse Tekle Temesgen Tesfaye Tewodros Tigist Tirunesh Tsegay Winta Wolde Yared
Yemane Yodit Yohannes Yonas Zerai Zewdi Abdi Ayaan Hodan Ifrah Warsame"""),
        _split("""Abay Abraha Adane Afeworki Alemu Araya Asfaw Asmelash Assefa Ayalew Bekele Berhe Beyene Birhanu Debebe Demissie Desalegn Dibaba Eshetu Eyasu Fissehaye
Gebre Gebremariam Gebremedhin Gebreselassie Gebreyesus Gidey Girmay Habte Habtemariam Hagos Haile Hailemariam Hailu Isayas Kahsay Kassa Kebede Kiflom
Kiros Legesse Lemma Mebratu Mehari Mekonnen Mengistu Mesfin Mulugeta Negash Negasi Ogbai Redda Semere Seyoum Tadesse Tefera Tekeste Tekle Teklu
Tesfamariam Tesfay Tesfazghi Tewolde Tilahun Tsegaye Weldu Woldemariam Woldu Wolde Yohannes Zemichael Zerezghi Farah Hersi Warsame"""),
    ),
    "nordic": (
        _split("""Aage Aasa Agneta Aino Alvar Amund Anneli Anette Annika Ansgar Arvid Asbjørn Asger Aslaug Astrid Audun Axel Bengt Berit Birger Birgitta Bo Bodil Børge
Carl Dag Dagny Ebba Egil Eija Einar Eino Elin Ellinor Elof Embla Erkki Esko Espen Eva-Lena Fredrik Frode Gerd Gertrud Gitte Göran Gösta Gry Gudmund
Gun Gunilla Gunvor Halvard Harri Heikki Helge Helmi Henna Herdis Hilja Håkan Inga-Lill Inger Ingvild Ivar Jarkko Jarl Jens-Peter Jorma Jouni Kaarina
Kalle Karsten Kerstin Kirsi Kjell Kjersti Knud Lasse Leif Liisa Lisbet Linnea Ludvig Maarit Maj Malin Marit Marjatta Markku Merete Mogens Morten Nanna
Niels Nils Odd Olav Oddvar Orvar Osmo Ottar Palle Pekka Per Per-Olof Pernille Pirjo Preben Raili Ragnar Ragnhild Randi Reidar Riitta Rolf Roald Rune
Runar Saga Sakari Seija Signe Sigrid Sigurd Siri Siv Snorre Solveig Steinar Stig Sture Svante Svein Sverre Tage Tapio Tarja Terje Thorbjörn Thyra Timo
Toini Tor Tord Torgeir Torunn Trine Trond Trygve Tuija Turid Tuula Ture Ulf Ulla Unni Urban Uno Vagn Valborg Veikko Vibeke Vidar Viggo Viljo Yngve
Yrsa Åke Åse Örjan Malik Aputsiaq Nivi Pipaluk Inuk Ivalu"""),
        _split("""Abrahamsen Abrahamsson Ahlgren Ahola Alfredsson Almgren Alanen Amundsen Andreasen Arvidsson Aas Bakken Berglund Bergqvist Bech Birkeland Björk
Björklund Boman Brodersen Bruun Byström Carlsen Carlsson Clausen Dahlberg Dahlgren Davidsen Edvardsen Ekström Eliasson Engström Eriksen Eskelinen
Fagerström Fjeld Forsberg Fredriksen Frandsen Gustavsson Gran Gulbrandsen Gundersen Haapala Hagen Hakkarainen Halvorsen Hannula Haugen Hedlund Hedman
Hellström Henriksson Hietala Hjort Hoel Holmberg Holmgren Honkanen Hyvönen Høeg Ikonen Isaksen Iversen Jakobsen Jepsen Jespersen Johannessen Jokinen
Juhl Jönsson Kallio Karjalainen Karlsen Kjeldsen Kivelä Knudsen Koivisto Kristiansen Kristoffersen Kruse Laaksonen Lahti Lassen Laursen Lehtonen
Lindberg Lindgren Lindholm Lindqvist Lindström Lund Lundgren Lundin Lundqvist Magnusson Malmberg Mathisen Mattila Mattsson Mikkelsen Mortensen Myhre
Mäkinen Möller Naess Nieminen Nilsen Nordin Norling Nyberg Nygaard Nyman Nyström Ojala Olofsson Overgaard Paulsen Pedersen Peltonen Persson Petersson
Poulsen Rantala Rasmussen Riis Rosenqvist Rønning Salminen Salonen Samuelsen Sandberg Sandvik Savolainen Schou Simonsen Sivertsen Sjöberg Skov Solberg
Strand Ström Sundberg Svendsen Svensson Söderberg Söderström Thorsen Toft Tuominen Tveit Vestergaard Viklund Virtanen Wallin Wikström Winther Åberg
Åkesson Öberg Østergaard Ødegård"""),
    ),
    "slavic": (
        _split("""Adéla Agnieszka Aleš Alojz Andrej Aneta Anton Antonina Arkadiusz Bartosz Bogdan Bogumił Bohdan Bohumil Boleslav Borut Božena Bronisław Cyril Czesław
Dalibor Danuta Darko Dobromir Dragan Dušan Dzmitry Edyta Elżbieta Emilija Evžen Ewelina Fedir Filip Franc František Galina Genadij Gorazd Gregor
Grigorij Halina Hana Henryk Ihor Ilona Irenej Ivana Ivo Iwona Izabela Jadwiga Jakub Janez Jaromír Jaroslav Jarosław Jelena Jerzy Jindřich Jolanta
Jožica Julija Kazimierz Kinga Klavdija Klement Krešimir Krystyna Krzysztof Ksenija Květa Lada Leszek Libor Lidija Ljubica Ljudmila Lubomír Lubor
Lucjan Luděk Lyudmyla Małgorzata Marcin Marek Marjan Markéta Maryna Maryla Matej Mateusz Matjaž Metka Mieczysław Milada Milan Milena Milica Miloš
Mirela Miroslav Mojca Mykola Nadezhda Nataša Neža Nikita Nikolaj Oksana Oldřich Oleg Oleksandr Olena Ondřej Otakar Patryk Pavel Pavlína Petr Polona
Přemysl Radim Radka Radmila Radosław Radovan Renáta Rostislav Růžena Ružica Ryszard Sławomir Slavko Snežana Sonja Stanislav Stjepan Svatopluk Svetlana
Svitlana Taras Tibor Tihomir Timur Tomasz Tomislav Urška Václav Valentyna Vasil Vasyl Věra Vendula Věroslav Viliam Viorica Vít Vladan Vladislav Vlasta
Vlastimil Volodymyr Vojtěch Vuk Wacław Waldemar Walentyna Wiesław Witold Wojciech Yaroslav Yevhen Yulia Zbigniew Zdeněk Zdenka Zdzisław Željka Željko
Zlatko Zofia Zoran Zuzana Zvonimir"""),
        _split("""Adamczyk Babić Bagnyuk Bałut Baranov Bartoš Bartosz Bednář Bielak Bilyk Blažek Boháč Bondarenko Borkowski Borovets Božić Brezovar Buczek Bukowski
Bureš Chlebowski Chmiel Čech Čermák Ćosić Cvetković Czerwiński Ćwik Danylenko Dąbrowski Davydov Dolenc Doležal Dragić Dudek Duda Dvorak Dvořák Fiala
Filipović Gajewski Golob Golubev Gorbachov Górski Grabowski Grgić Gruszka Hájek Havel Havelka Hladký Horvat Hrubý Hudák Iliev Ilić Ivanchenko
Ivanković Jakubowski Janda Janković Jankowski Jelínek Jež Jovanović Jurić Kačmar Kadlec Kaczmarek Kamiński Karpov Kavčič Khomenko Kłos Knežević Kolar
Kolář Kołodziej Komarov Kopecký Korošec Kos Kováč Kovač Kovačić Kovalchuk Kowalczyk Kozák Kozłowski Kralj Kratochvíl Kravchenko Krejčí Krupa Kubiak
Kučera Kuchar Kuznetsov Kwiatkowski Lazarević Lebedev Lewandowski Lis Lukić Lysenko Macháček Majewski Mareš Marić Marković Matović Mazur Medved Melnyk
Mihajlović Milošević Mlakar Moravec Morozov Musil Navrátil Nedeljković Nikolić Novaković Nowicki Nowakowski Oblak Ostrowski Pająk Paliy Pavić Pavlenko
Pavlović Pawlak Pech Perić Petrenko Petrović Piątek Pietrzak Pokorný Polák Polyakov Popović Pospíšil Potočnik Procházka Przybylski Radić Rusin Růžička
Sadowski Savchenko Sedláček Shevchenko Sidorov Sikora Šimić Šimek Slavík Sobczak Sokolov Sokołowski Soukup Stanković Stojanović Šťastný Stepanov Šulc
Svoboda Szczepański Szulc Tkachenko Tomić Tomczak Turk Tyshchenko Urban Urbańczyk Vacek Valenta Vaněk Vasić Vasilev Veselý Vidmar Vitković Vlček
Vlasenko Volkov Vorobyov Vuković Wach Walczak Wasilewski Wieczorek Wilk Wiśniewski Witkowski Włodarczyk Wójcik Wróbel Wrona Yakovenko Zając Zajc
Zakharov Zalewski Zawadzki Zeman Zieliński Živković Župan Zupančič"""),
    ),
    "east_asia": (
        _split("""Akari Akemi Akio Akira Asuka Atsuko Ayame Chiyo Daichi Daisuke Eiji Emiko Fumiko Goro Hana Haruki Haruto Hideki Hikari Hinata Hiroto Hisashi Honoka
Isamu Itsuki Izumi Jiro Jun Junko Kaede Kaito Katsuro Kazuki Kazuo Keiko Kenta Kiyoshi Koji Kota Kyoko Mai Makoto Mami Manabu Masako Masashi Mayumi
Michiko Minato Misaki Mitsuko Moe Naoki Naoko Nobuo Noriko Osamu Rei Ren Rie Rin Riko Ryo Ryota Sachiko Sakura Satoshi Sayuri Shigeru Shinji Shiro
Shota Sora Susumu Tadashi Takahiro Takeo Takumi Tamotsu Tatsuya Tetsuo Tomoko Toru Toshio Tsubasa Wataru Yasuko Yoko Yoshio Yui Yuki Yukio Yumi Yuna
Yuto Bao Chang Cheng Chun Dong Fang Fei Feng Guang Guo Hai Hao Hong Hua Hui Jiahao Jian Jianguo Jiayi Jing Kai Kang Lan Lei Lian Lihua Ling Long Mei
Meiling Min Ming Na Ning Peng Ping Qiang Qin Qing Rong Rui Shan Sheng Shu Shuang Tao Ting Wei Weiguo Wen Wenjing Xia Xiang Xiaohong Xiaoli Xiaoming
Xin Xinyi Xiu Xue Yan Yang Yi Yifan Ying Yong Yu Yuan Yue Yun Yuxuan Zedong Zhen Zhi Zihan Zixuan"""),
        _split("""Abe Adachi Akiyama Aoki Arai Araki Asano Baba Chiba Doi Endo Enomoto Fujii Fujimoto Fujita Fukuda Fukui Furukawa Goto Hamada Hara Harada Hashimoto
Hattori Hayashi Hino Hirano Hirata Honda Horiuchi Hoshino Igarashi Iida Ikeda Imai Inoue Ishida Ishihara Ishii Ishikawa Iwasaki Kamada Kaneko Kato
Kawaguchi Kawai Kawamura Kikuchi Kimura Kinoshita Kishi Kitamura Kobayashi Koike Kojima Kondo Kono Kubo Kuroda Maeda Maruyama Masuda Matsuda Matsui
Matsumoto Matsuo Miyamoto Miyazaki Mizuno Mori Morimoto Morita Murakami Murata Nagai Nagata Nakagawa Nakajima Nakano Nakashima Nakayama Narita Nishida
Nishimura Noda Noguchi Nomura Oda Ogawa Oishi Okada Okamoto Ono Onishi Oshima Ota Otsuka Ozaki Saito Sakai Sakamoto Sano Sasaki Sawada Shibata Shimada
Shimizu Shinohara Sugawara Sugimoto Sugiyama Takada Takagi Takahashi Takeda Takeuchi Tamura Taniguchi Tsuchiya Tsuji Uchida Ueda Ueno Uno Wada
Watanabe Yagi Yamada Yamaguchi Yamamoto Yamashita Yamazaki Yano Yokoyama Yoshida Yoshikawa Bai Cai Cao Cui Deng Ding Dong Du Duan Fan Feng Fu Gong Gu
Guo Han Hao Hou Hu Huang Jia Jiang Jin Kong Lai Lei Liang Liao Liu Long Lu Luo Meng Mo Pan Peng Qian Qin Qiu Ren Shao Shen Shi Song Su Tan Tang Tao
Tian Wan Wei Wen Xia Xiang Xiao Xie Xu Xue Yan Yao Ye Yin Yu Yuan Zeng Zhong Zhou Zhu Zou Fung Kwok Lau Leung Mak Ng Tsang Tse Tsui Yeung Yip"""),
    ),
    "arab_persian": (
        _split("""Abbas Abdallah Abdelaziz Abdelkader Abdulrahman Adel Adnan Ahlam Aida Aisha Akram Amal Amani Amina Amir Ammar Anas Anwar Arash Arezou Arwa Asma Ayman
Ayoub Aziz Azadeh Babak Bahram Bashar Basma Bassam Behrouz Bilal Bushra Darius Dalia Dina Ehsan Eman Esmail Fadi Fahad Faisal Faridah Farhad Farid
Farzaneh Fatemeh Fawzi Firas Fouad Ghada Ghassan Habib Hadi Hadil Haitham Hala Hamid Hamza Hanan Hani Haroun Hashem Hassan Haya Hesham Hicham Hossein
Houda Huda Husam Ibtisam Ikram Iman Imran Ismail Issa Jaber Jamila Jawad Kamran Karim Kaveh Khadija Khalid Khalil Laila Lamia Latifa Layth Leila Lina
Lubna Maha Mahdi Mahmoud Majid Malak Manal Mansour Maryam Masoud Maysa Mehdi Mehran Mina Mohsen Mona Mostafa Mourad Muna Munir Mustafa Nabil Nada
Nader Nadia Naima Najib Najwa Nasser Nawal Nazanin Nidal Niloufar Nizar Noor Noura Omid Osama Parisa Parviz Qasim Rabia Rached Rana Rania Rasha Rashid
Rawan Rayan Reem Reza Rima Ruba Sahar Said Saleh Salim Salma Salwa Samar Sami Samira Sanaa Sara Shadi Shahram Shaima Shirin Siham Soraya Soumaya Suha
Taha Tahani Talal Tamer Taraneh Tarek Wafa Wael Walid Wassim Yahya Yasin Younes Yousef Yusra Zahra Zaid Zainab Zakaria Ziad Zineb"""),
        _split("""Abbasi Abboud Abdallah Abdelrahman Abdi Abdullah Abu-Zaid Ahmadi Ajami Akbari Alavi Amini Ansari Antar Asfour Ashkar Aslani Assaf Atiyeh Awad Ayad
Ayyad Azimi Badawi Bagheri Baker Barakat Bashir Basha Bazzi Bishara Boutros Chalabi Daher Darwish Eid Eskandari Fadel Fahmy Fakhoury Farahani Fares
Farouk Fawaz Ganem Ghanem Ghazali Ghorbani Habib Hadad Haidar Hakimi Hamad Hamdan Hamidi Hammoud Handal Hariri Hashemi Hassan Hijazi Hosseini Husseini
Ibrahim Issa Jaber Jabari Jafari Jalali Kabir Kanaan Karam Karimi Kassem Kazemi Khalaf Khalidi Khalil Khatib Khoury Mahfouz Maalouf Majidi Malouf
Mansour Maroun Masri Mazari Mikhail Moghaddam Mohammadi Moradi Mousa Mousavi Mubarak Mustafa Nader Nahas Najjar Najafi Nasr Nasrallah Nazari Nejad
Noori Norouzi Obeid Odeh Omar Osman Pahlavi Qasim Qureshi Rahimi Rahman Rashidi Rezaei Rostami Saab Saad Sabbagh Sadeghi Safadi Safavi Saidi Saleh
Salameh Salehi Salman Samadi Sarkis Sayegh Shadid Shaheen Shahin Shalhoub Sharif Shirazi Soltani Suleiman Tabatabai Tahan Taheri Tajik Touma Yazdi
Younis Zadeh Zahedi Zaman Zand Zayed Zogby"""),
    ),
    "african": (
        _split("""Abena Abiodun Abosede Achieng Ade Adaeze Adanna Adebayo Adeola Adesina Afua Akinyi Akosua Akua Amadi Amara Ama Aminata Anulika Atieno Awa Ayodele
Azubuike Babajide Bolanle Bongani Chiamaka Chibueze Chidi Chidinma Chijioke Chika Chikere Chinedu Chinonso Chinwe Chioma Chukwudi Chukwuemeka Dike
Ebele Ebere Efua Ejike Ekene Emeka Enyinna Esi Ezinne Fatou Femi Folake Funmilayo Gathoni Ibrahima Ifeanyi Ifeoma Ifeyinwa Ijeoma Ikenna Isioma Jelani
Juma Kamau Kelechi Kenechi Kofi Kojo Kwabena Kwaku Kwame Kwasi Lerato Lindiwe Mamadou Mandla Mpho Mwangi Naledi Ndidi Ngozi Nkechi Nkiruka Nnamdi
Nneka Nomvula Nonso Ntombi Nwanneka Obi Obinna Odili Ogechi Okafor Okechukwu Olabisi Olumide Oluchi Onyeka Onyinye Osita Ousmane Precious Segun
Sibusiso Sipho Somto Tendai Thabo Thandiwe Themba Tobechukwu Tunde Uchechi Uchenna Udo Ugochi Uzoma Wambui Wanjiru Yaa Yaw Zanele Zikoranachidimma
Zodwa"""),
        _split("""Abiola Achebe Adebayo Adeyemi Afolabi Agu Akande Akintola Amadi Anyanwu Appiah Asante Asiedu Awolowo Azikiwe Bah Balogun Banda Boateng Camara Chidubem
Chiemeka Chikwendu Chilaka Chinweike Chukwu Cissé Coulibaly Danjuma Danso Diallo Diop Dlamini Ebere Egwu Ejiofor Ekwueme Eze Ezenwa Fofana Gyasi
Ibekwe Igwe Ikwuemesi Iweala Kariuki Keita Khumalo Kibet Kimani Kipchoge Kone Konadu Madu Madueke Maduabuchi Mahlangu Maina Makena Mbeki Mensah
Mokoena Moyo Mthembu Muchiri Mugo Musa Mutua Mwangi Naidoo Ncube Ndiaye Ndlovu Njoroge Nkosi Nkrumah Nnaji Nwachukwu Nwankwo Nwosu Obasanjo Obiora
Odinga Ogbonna Ogunbanjo Ojo Okafor Okeke Okereke Okonkwo Okoro Okoye Okpara Olawale Omondi Onwuatuegwu Onwudiwe Onyekachi Onyilogwu Osagie Otieno
Owusu Quaye Sarpong Sesay Sithole Soyinka Tembo Touré Traoré Tshabalala Uche Udeh Ugwu Umeh Uzochukwu Wanjala Yeboah Zulu Zuma"""),
    ),
    "iberian_italian": (
        _split("""Abril Adela Adrián Agustín Aitana Alba Alejandra Alfonso Alonso Álvaro Amparo Anselmo Araceli Ariadna Armando Arturo Azucena Baltasar Beatriz Belén
Berta Blanca Borja Bruna Caetano Candela Caridad Carolina Catalina Cecília Celso Clarice Concepción Consuelo Cristóbal Dalila Débora Diego Domingo
Edilson Elías Eloísa Emiliano Encarnación Enrique Esmeralda Esperanza Estela Esteban Eulália Eva Fabián Fátima Felipe Fermín Fernanda Flávia Gaspar
Genaro Giselle Gonçalo Gonzalo Graciela Guadalupe Guilherme Gustavo Heitor Héctor Hernán Hilda Horacio Humberto Ignacio Inmaculada Iratxe Isidro Ivone
Jacinta Jacinto Jaime Jimena Joaquim Joaquín Jordi Juliana Julián Kauã Larissa Leandro Leonor Leticia Lorena Lourdes Luana Lucía Luciano Luzia
Macarena Magdalena Manoel Marcela Margarida Maricarmen Mariano Marisol Martina Matías Mauricio Mercedes Micaela Milagros Moisés Montserrat Murilo
Nicolás Noelia Octavio Otávio Paloma Paulino Pilar Purificación Rafaela Raimundo Ramiro Raquel Raúl Remedios Rocío Rodrigo Rogélio Rosana Rosário
Roque Salvador Samira Sancho Santiago Saúl Silvana Soledad Thaís Tiago Tomás Úrsula Valentina Vasco Verónica Vicente Vinícius Violeta Vítor Ximena
Yago Yesenia Yolanda Zulmira Agata Alessia Aldo Alfio Allegra Amedeo Annunziata Arcangelo Arnaldo Azzurra Baldassare Biagio Bianca Brando Calogero
Carmela Carmine Casimiro Celeste Cesare Cirillo Clelia Concetta Corrado Cosimo Dante Demetrio Domenico Donatella Edoardo Elettra Elisabetta Enzo
Ercole Ermanno Eugenia Ezio Fabrizia Fabrizio Fausto Federica Ferdinando Fiammetta Fiorella Flavio Gaetano Gennaro Gianfranco Giacinta Giampaolo
Ginevra Gioacchino Gisella Giuliana Grazia Guido Ilaria Immacolata Ivana Leonzio Letizia Ludovica Luigia Manuela Marcello Maristella Massimo Mirella
Nazzareno Nerina Nicodemo Nunzia Oreste Orsola Ottavia Palmira Pasquale Pierluigi Pompeo Primo Quirino Raffaele Ranieri Remo Renata Rocco Romilda
Rosalia Ruggero Sabina Saverio Serafina Silvano Simonetta Susanna Tancredi Tiziana Tullio Ubaldo Ugo Umberto Vito Viviana Zaira"""),
        _split("""Abreu Aguado Aguirre Alcântara Almeida Alves Amaral Andrade Antunes Aragón Araújo Arias Arroyo Azevedo Barbosa Barrios Barros Batista Benítez Bermúdez
Bezerra Blanco Borges Bravo Bustos Caballero Cabrera Calvo Camargo Campos Cardoso Carmona Carrasco Carvalho Castillo Cavalcanti Cervantes Chaves
Cisneros Collado Contreras Córdova Correia Cortés Costa Crespo Cuesta Cunha Delgado Domínguez Duarte Durán Escobar Escudero Espinosa Esteban Esteves
Farias Faria Ferreira Figueiredo Flores Fonseca Freitas Fuentes Gallardo Galindo Garrido Gil Gimeno Giménez Godinho Góngora Gouveia Guedes Guerrero
Guimarães Heredia Hidalgo Ibáñez Iglesias Izquierdo Jiménez Lacerda Leal Leite Leiva Lemos Lorenzo Losada Lozano Luque Macedo Machado Maciel Maia
Maldonado Manzano Marín Marques Márquez Matos Medeiros Meireles Melo Méndez Menéndez Merino Molina Moniz Montero Monteiro Montenegro Mora Moraes Morán
Moreira Mota Moura Muñoz Murillo Nascimento Neves Nieto Nogueira Núñez Oliveira Olmos Ortega Pacheco Palacios Paredes Pascual Pastor Pereira Peralta
Pimentel Pinheiro Pinto Pires Pizarro Polanco Portillo Prado Prieto Quintana Quintero Ramalho Rangel Rebelo Redondo Ribeiro Ríos Robledo Rocha Rojas
Roldán Rosário Rubio Saavedra Sáez Salgado Salinas Sampaio Sánchez Sandoval Santana Sarmiento Serra Serrano Silveira Simões Soares Solano Soler Soria
Sousa Suárez Tavares Teixeira Tejada Toledo Torres Valdés Valverde Varela Vargas Velasco Velázquez Vera Vidal Vieira Villanueva Xavier Zambrano Zapata
Zúñiga Abate Agostini Albanese Amato Arcuri Baldi Barbieri Barone Basile Battaglia Bellini Benedetti Beneventi Bernardi Bertolini Bianco Boni Bruno
Buccho Calabrese Caputo Cattaneo Cirillo Colombo Coppola Costantini Cremonesi Dellucci De_Luca De_Santis Di_Stefano Donati Esposito Fallaci Fanucci
Farina Ferrara Ferrari Fiorentino Folliero Fontana Galli Gallo Gentile Giordano Grasso Greco Grimaldi Guerra Iadanza Leone Lettiere Lo_Duca Lombardi
Lombardo Lucchese Longo Mancini Manfrin Mariani Marchesi Marino Martinelli Mazzanti Mazzi Messina Milanesi Monaldo Montanari Morelli Moretti
Napolitani Nucci Onio Padovano Padovesi Pagnotto Palermo Palerma Panicucci Parisi Pellegrini Piazza Piccio Pirozzi Pisani Pugliesi Rizzo Romani Romano
Rossi Russo Sabbatini Sagese Sal Santoro Schiavone Siciliano Siciliani Toscani Toscano Trentini Trevisani Trevisan Udinese Udinesi Vitale Zetticci
Zito"""),
    ),
    "germanic_french": (
        _split("""Adelheid Albrecht Alois Anneliese Antje Arnd Arnold Astrid August Bärbel Beate Benedikt Benjamin Benno Bertram Bettina Burkhard Christel Clemens
Cordula Cornelia Dagmar Daniela Dietmar Dietrich Dominik Edith Edeltraud Egon Elfriede Elisabeth Elmar Elsbeth Erhard Erich Erika Ernst Esther Eugen
Ewald Ferdinand Franz Frauke Fritz Gabriele Georg Gerda Gerlinde Gert Gesine Gottfried Grit Gudrun Guido Gustav Hanna Hannes Hansjörg Harald Hartwig
Hedwig Heiko Heiner Heinz Helene Hella Henriette Henrik Hermann Herta Hilde Horst Ilse Ines Inge Ingeborg Ingo Irene Iris Isolde Jochen Joachim Johann
Josef Julia Jutta Karin Karla Karsten Kerstin Klaas Konrad Kunigunde Kurt Leopold Liesel Liselotte Lore Lukas Lutz Magda Maik Margarete Margit Marion
Markus Marta Martina Maxi Mechthild Meike Melanie Michaela Nadine Norbert Oliver Oskar Patrick Philipp Raimund Regina Reiner Reinhold Roland Roswitha
Rudolf Rüdiger Rupert Ruth Sascha Sepp Sibylle Sigrid Simone Sonja Stephan Susanne Swantje Thea Theodor Thilo Timo Traudl Traute Udo Ulf Ulla Ulrike
Ute Valentin Vera Veit Viktor Waltraud Walburga Wendelin Werner Wilfried Wilhelm Wilhelmine Winfried Wolfram Yvonne Adrien Agathe Aimé Alban Albane
Aline Alix Alphonse Amandine Ambre Anaïs Anatole André-Pierre Ange Annick Apolline Armand Armelle Arnaud Aubin Audrey Aurélien Axelle Baptiste Barnabé
Bastien Baudouin Bérénice Bertrand Blaise Blanche Brigitte Bruno Capucine Carole Cédric Célestin Claire Clarisse Claude Claudine Clémence Clément
Clotilde Colette Constance Corentin Corinne Cyprien Cyrille Damien Danièle Delphine Denise Didier Dorothée Edmond Édith Edwige Éléonore Élise Éloïse
Elsa Emmanuelle Enzo Érica Ernestine Estelle Étienne Eugénie Évelyne Fabien Fabienne Fabrice Félicien Fernand Flavie Florent Florian Francine Franck
Frédérique Gaël Gaëlle Gaétan Gaspard Gaston Geneviève Geoffroy Georgette Gérald Gérard Germain Ghislain Ghislaine Gilbert Gilles Ginette Gisèle
Grégoire Guilhem Guy Gwenaëlle Henri Hervé Hippolyte Honoré Hortense Hubert Huguette Irénée Isaure Jacinthe Jean-Luc Jeannine Jérémie Jérôme Joël
Joëlle Josette Josiane Jocelyne Judith Julien Juliette Justine Laetitia Laure Laurence Léon Léonie Léopold Liliane Lilou Lionel Loïc Loïs Lorraine
Louison Luc Lucette Lucie Lucien Ludivine Ludovic Lydie Madeleine Maëlle Maëlys Marcel Marceline Margot Marguerite Marielle Marius Marthe Mathilde
Maud Maurice Maxence Mélanie Mélissa Mireille Morgane Muriel Nadège Ninon Noé Noémie Odile Océane Odette Olympe Pascal Pascale Patrice Paulette
Perrine Philibert Pierrick Quentin Raphaëlle Raymonde Réjean Renaud Robin Rodolphe Romain Romane Roméo Rosalie Roseline Sandrine Sébastien Séverine
Solange Solène Stéphane Suzanne Sylvain Sylvette Tanguy Thibaut Thomas Timothée Ulysse Valentine Valère Victoire Victorine Viviane Xavière Yannick
Yann Yoann Yolande Yves Yvette Zacharie Zoé"""),
        _split("""Achterberg Adler Ahrens Altmann Appel Arendt Aschenbach Auer Bachmeier Bader Barth Bauch Bayer Beckenbauer Behrens Bender Berg Bernhardt Beyer
Biermann Blau Blum Bock Bohm Bosch Brauer Breuer Brinkmann Bruckner Buchholz Burkhardt Cramer Dahl Decker Denk Dengler Diehl Dittmar Döring Dresdner
Drechsler Durr Eberhart Ebert Eckert Ehlers Eichel Eichmann Eisenberg Eisenhauer Engelhardt Ernst Esser Fassbinder Faber Fiedler Fink Förster
Frankfurter Freytag Freud Friedmann Fried Fruehauf Fürst Gärtner Gebhardt Geiger Gerber Gerste Glöckner Goldschmidt Götz Gottlieb Gottschalk
Gruenewald Grosse Grimm Gutmann Haase Hackl Hagen Hammer Harms Hauser Heinz Heil Heller Hempel Henkel Hennig Herz Herzog Hess Heuer Hinrichs Hirsch
Hoch Holtzmann Holzer Hübner Jaeger Jahn Jansen Janssen Jost Jürgens Kalb Kappel Kaufmann Kästner Kerner Kessler Kirsch Klug Knopf Koenig Kohl Kolbe
Konrad Kortig Kramer Kranz Kreuzer Kroll Krug Kruger Küster Kunz Kuster Kunze Lemke Lehrer Linden Lindner Link Loewe Löffler Ludwig Lutz Mahler
Marquardt Maur Meinhardt Meister Menzel Merz Metzger Michels Mohr Moench Mueller Nacht Nadel Naumann Neudorf Neustadt Nussbaum Oster Ostermann Papst
Paulus Petzold Pfaff Pfeifer Pfeffer Pfister Propst Rausch Reinhardt Reiniger Reuter Riedel Ritter Rothschild Rothstein Sanger Sankt Schaefer Scheffer
Schiffer Schilling Schindler Schlüter Schmitt Schmidtke Schreck Schröter Schuhmacher Schultheiss Schüler Schütz Schwab Schweitzer Schwartz Seeger
Seifert Senft Shuster Siegel Singer Sperling Stark Steger Steinmann Stern Strauss Strecker Sturm Theissen Thiel Traugott Trommler Ulrich Unger Urner
Vater Vogler Vogt Voss Wechsler Weiss Weißmuller Werfel Wexler Wegner Wendt Wirth Wirtz Witt Wurfel Wulf Zander Ziegler Zimmer Zweig Achin Allard
Arcouet Aubé Audet Aupry Authier Barrientos Beaudouin Beaulieu Beauchamp Beauchesne Bélair Bélanger Benoît Berger Bernier Bérubé Bienvenue Blais
Bonneville Bossé Boucher Boulanger Bourgeois Brisebois Brodeur Bussière Caron Cartier Charest Charette Charron Chartier Châteauvert Chauvin Chouinard
Clavet Cloutier Corriveau Coulombe Couture Cyr Daigneault Daoust Davignon Delisle Deschamps Desjardins Deslauriers Desrosiers Doyon Dubé Dubeau
Ducharme Dufresne Duhamel Dumoulin Duperré Dupuis Duranseau Faucher Fecteau Ferland Fluet Fongemie Fontaine Foucault Fortier Fréchette Gagné Gagnon
Gamelin Garceau Gaudreau Gauthier Gendron Gervais Giroux Gosselin Gougeon Grandbois Grivois Guay Guérette Guernon Guimond Hachée Hébert Houle Hughes
Huppé Jodoin Jolicoeur Labelle Labonté Labossière Lachance Lacharité Lafrenière Lagacé Lajeunesse Laliberté Lamontagne Lamoureux Landry Langelier
Lanteigne Laprise Larocque Lavallée Laverdière Lavoie Leblanc Leclair Lemaître Lessard L'Heureux Lépicier Louineaux Majory Marcil Margand Marier
Marleau Martel Masson Ménard Michaud Miron Monjeau Morneau Narcisse Neufville Ouellet Ouellette Paimboeuf Panetier Paradis Patenaude Patry Pelchat
Pelland Pinette Plouffe Poirier Quessy Quinn Racine Rancourt Renaud Rivard Rocheleau Rochefort Rossignol Roussel Ruel Salois Savard Sciverit Séguin
Sevier Simard Sorel Souplet St-Jean St-Pierre Talon Tanguay Tardif Tessier Théberge Therriault Thibault Trudeau Turcotte Vachon Vadeboncoeur
Vaillancourt Verreau Viens Vincelette"""),
    ),
    "southasia_sea": (
        _split("""Aarav Aarti Abhijit Abhishek Aditi Aditya Ajay Akash Akshay Amit Amol Amrita Ananya Anil Anita Anjali Ankit Ankita Anuradha Aparna Arjun Arnav Arun
Aruna Asha Ashok Ashwin Avinash Ayesha Bharat Bhavna Chandan Chandra Deepa Deepak Deepika Devendra Dhruv Dinesh Divya Farhan Gaurav Gauri Geeta Girish
Gopal Gurpreet Hardik Harish Harpreet Hemant Indira Ishaan Ishita Jagdish Jaspreet Jaya Jayant Jyoti Kabir Kailash Kalpana Kamal Kamala Karan Kartik
Kavita Keerthi Kiran Kishore Komal Krishna Kunal Lakshmi Lalit Lata Madhav Madhuri Mahesh Mala Malini Manish Manisha Manoj Meena Meera Megha Mohan
Mukesh Nandini Naresh Naveen Neelam Neeraj Neha Nikhil Nilesh Nisha Nitin Padma Pallavi Pankaj Parth Pooja Prabhu Pradeep Prakash Pranav Prasad
Praveen Preeti Priya Rachna Raghu Rahul Raj Rajan Rajat Rajeev Rajendra Rajesh Rajiv Rakesh Ram Ramesh Rashmi Ravi Rekha Reshma Ritu Rohan Rohit
Roshni Rupa Sachin Sandeep Sangeeta Sanjana Sanjay Sapna Sarita Satish Savita Seema Shailesh Shalini Shankar Sharmila Shikha Shilpa Shiv Shreya Shruti
Siddharth Simran Sneha Sonal Srinivas Subhash Sudha Sudhir Sujata Suman Sumit Sunil Sunita Suraj Suresh Swati Tanvi Tarun Tejas Uday Uma Usha Vaibhav
Vandana Varun Vasant Veena Venkat Vidya Vijay Vikas Vikram Vimal Vinay Vineet Vinod Vishal Vivek Yash Yogesh Anong Apinya Arthit Busaba Chai Chaiwat
Channarong Chanthira Decha Kamon Kanya Kittisak Kulap Malee Mongkut Narong Nattapong Niran Nok Panit Phailin Phichit Pimchan Ploy Porn Prasert Preecha
Ratana Sakda Sarawut Siriporn Somchai Somsak Suda Sunan Suwan Thaksin Thawat Wattana Wichai Yingluck Agus Ahmad Aisyah Ajeng Andika Ayu Bambang Budi
Cahya Dewi Dian Dwi Eka Fajar Fitri Galuh Gita Hendra Indah Intan Iwan Joko Kartika Lestari Made Megawati Nurul Ketut Putri Rahmat Ratna Rizky Sari
Sinta Slamet Sri Sukarno Surya Susilo Tri Wahyu Wayan Widodo Yanti Yudhoyono Andres Bayani Dalisay Danilo Divina Efren Imelda Jejomar Ligaya
Luzviminda Marikit Rizalino Rodolfo Tala An Anh Bich Binh Chau Dao Duc Dung Giang Ha Hanh Hien Hoa Huong Khanh Lam Linh Loan Mai Minh Nga Ngoc Nhung
Phong Phuong Quang Quynh Son Tam Thanh Thao Thi Thu Thuy Tien Trang Trinh Trung Tuan Tung Tuyet Van Viet Vinh Xuan Yen"""),
        _split("""Acharya Agarwal Aggarwal Ahuja Anand Arora Bajaj Banerjee Bansal Basu Bhandari Bhardwaj Bhargava Bhatia Bhatt Bhattacharya Biswas Bose Chadha
Chakraborty Chatterjee Chaudhary Chauhan Chawla Chopra Das Dasgupta Datta Deshmukh Deshpande Dhillon Dutta Dwivedi Gandhi Ganguly Garg Ghosh Gill Goel
Goswami Goyal Grewal Grover Guha Gupta Iyengar Iyer Jadhav Jain Jha Jindal Joshi Kapadia Kapoor Kaul Kaur Khanna Khatri Kohli Kothari Krishnan
Krishnamurthy Kulkarni Kumar Kumari Lal Mahajan Malhotra Mallick Mangal Mathur Mehra Mehrotra Mehta Menon Mishra Mistry Mittal Modi Mohanty Mukherjee
Murthy Nadar Naik Nair Nambiar Nanda Narang Narayan Narayanan Natarajan Nayak Nayyar Negi Oberoi Padmanabhan Pandey Pandya Parekh Parikh Parmar Patel
Patil Pillai Prabhakar Prasad Puri Raghavan Rajan Raman Ramachandran Ramakrishnan Ramaswamy Rana Ranganathan Rao Rathore Rastogi Rawat Reddy
Roychowdhury Saha Sahni Saini Salvi Sarkar Sawant Saxena Sehgal Sen Sengupta Seth Sethi Shah Sharma Shenoy Shetty Shinde Shrivastava Shukla Sidhu
Singh Singhal Sinha Solanki Somani Soni Sood Srinivasan Srivastava Subramaniam Subramanian Suri Swaminathan Tandon Thakur Thapar Tiwari Trivedi Tyagi
Upadhyay Varghese Varma Vyas Wadhwa Yadav Adisai Boonmee Chaisri Charoenkul Kaewkla Khamwan Maneerattana Niratpattanasai Phanomyong Pibulsonggram
Rattanakosin Saelim Saetang Shinawatra Sirikul Srisai Suwannarat Thongchai Wongsakul Hidayat Hartono Kusuma Nasution Nugroho Permata Pratama Purnama
Rahardjo Santoso Saputra Setiawan Siregar Suharto Sukarnoputri Susanto Utomo Wibowo Widjaja Wijaya Aquino Bautista Cojuangco Dimaculangan Dimagiba
Duterte Macapagal Magsaysay Manalo Pangilinan Panganiban Buthelezi Chau Dang Dao Dinh Doan Duong Hoang Huynh Luong Luu Ly Mac Nghiem Ngo Phan Pham
Thach Trinh Truong Vuong"""),
    ),
    "turkic_caucasian": (
        _split("""Ahmet Ajda Akın Alper Arda Asuman Aslan Aslı Ayşegül Aytaç Bahar Barış Baran Başak Bekir Beren Berk Berkay Burak Burcu Bülent Can Canan Cansu Cem
Cemal Cenk Ceren Çağlar Çiğdem Defne Deniz Derya Didem Dilara Doğan Ebru Ece Ekrem Elif Emine Emre Engin Erdal Erdem Erol Esin Esra Eylem Fahri Fatma
Fehmi Ferhat Feride Fikret Filiz Funda Gamze Gizem Gökhan Gül Gülay Gülsüm Güneş Güven Hakan Hale Halil Halime Hande Harun Hasan Hatice Havva Hüseyin
İbrahim İlhan İlker İpek İrem İsmail Kaan Kadir Kader Kemal Kerem Kübra Leyla Levent Mahmut Mehmet Melek Meltem Meral Merve Mert Meryem Mesut Murat
Mustafa Nazlı Necati Nermin Nesrin Nilüfer Nuray Nuri Okan Onur Orhan Osman Oya Özge Özgür Özlem Pelin Pınar Ramazan Recep Rıza Sabri Salih Seda
Selçuk Selim Selin Semra Serdar Serkan Sevda Sevgi Sibel Sinan Songül Suat Sultan Süleyman Şebnem Şerife Şükrü Taner Tarkan Tolga Tuğba Tülay Uğur
Ümit Vedat Veli Volkan Yasemin Yavuz Yeliz Yiğit Yıldız Yusuf Zehra Zerrin Zeynep Zülfiye Akhmad Adam Aslambek Bislan Dzhokhar Deni Ibragim Imran
Isita Khamzat Khava Magomed Malika Movsar Ramzan Rustam Ruslan Salambek Shamil Sulim Tamerlan Turpal Zelimkhan Zargan Zulai Giorgi Nino Tamar Davit
Irakli Levan Ketevan Nika Salome Tinatin Vakhtang Zurab Armen Aram Anahit Ani Ashot Gayane Hasmik Hayk Karen Lusine Narek Nune Sargis Siranush Tigran
Vahan Vardan Azamat Aigerim Aliya Askar Bakyt Dana Daniyar Dinara Erlan Gulnara Kanat Madina Marat Nursultan Saule Timur Zarina Bobur Dilnoza Feruza
Jasur Nodira Otabek Sardor Shavkat"""),
        _split("""Acar Akar Akbaş Akgün Aksoy Aktaş Albayrak Altun Arslan Ateş Avcı Aydın Aydoğan Balcı Başaran Bayrak Bozkurt Bulut Can Ceylan Coşkun Çakır Çelik Çetin
Çınar Çoban Demirci Demirel Demirtaş Deniz Doğan Duman Durmaz Ekinci Er Erdem Erdoğan Eren Ergün Erkan Ersoy Gök Güler Gül Güneş Güngör Işık Karaca
Karakaş Karadağ Karaman Kaya Keskin Kılınç Kılıç Koç Koçak Korkmaz Köse Kurt Kuş Küçük Mutlu Oral Önal Özcan Özdemir Özer Özkan Öztürk Pehlivan Polat
Sarı Sezer Şahin Şen Şener Şimşek Taş Taşkın Tekin Toprak Tosun Tunç Turan Türk Uçar Ünal Uysal Uzun Ünlü Varol Vural Yalçın Yaman Yavuz Yazıcı
Yıldırım Yılmaz Yüksel Zengin Abdulov Aliev Arsanukaev Basayev Dudayev Ibragimov Kadyrov Khasbulatov Maskhadov Mamedov Saidov Umarov Usmanov Zakayev
Tsarnaev Beridze Chikovani Gelashvili Ivanishvili Kvaratskhelia Lomidze Mchedlidze Saakashvili Shevardnadze Tsereteli Aghajanyan Avetisyan Grigoryan
Hakobyan Harutyunyan Kardashian Khachatryan Manukyan Mkrtchyan Petrosyan Sargsyan Simonyan Vardanyan Abenov Akhmetov Bekmambetov Ermekov Iskakov
Kassymov Nazarbayev Nurpeisov Omarov Sultanov Tokayev Karimov Mirziyoyev Rakhimov Yuldashev"""),
    ),
}
