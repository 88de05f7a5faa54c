"""Common given names and surnames of many cultures, from general knowledge; no real person's data.
Rare names are made from the endings that a culture's names have (SURNAME_PARTS, GIVEN_PARTS)."""


def _split(text):
    return [w.replace("_", " ") for w in text.split()]


# culture: (given names, surnames)
_TEXT = {
    "english": (
        """James Mary John Patricia Robert Jennifer Michael Linda William Elizabeth David Barbara Richard Susan Joseph
Jessica Thomas Sarah Charles Karen Christopher Nancy Daniel Lisa Matthew Margaret Anthony Betty Mark Sandra Donald Ashley
Steven Dorothy Paul Kimberly Andrew Emily Joshua Donna Kenneth Michelle Kevin Carol Brian Amanda George Melissa Edward
Deborah Ronald Stephanie Timothy Rebecca Jason Laura Jeffrey Sharon Ryan Cynthia Jacob Kathleen Gary Amy Nicholas Angela
Eric Shirley Jonathan Anna Stephen Brenda Larry Pamela Justin Emma Scott Nicole Brandon Helen Benjamin Samantha Samuel
Katherine Gregory Christine Frank Debra Alexander Rachel Raymond Carolyn Patrick Janet Jack Catherine Dennis Maria Jerry
Heather Tyler Diane Aaron Ruth Jose Julie Adam Olivia Nathan Joyce Henry Virginia Douglas Victoria Zachary Kelly Peter
Lauren Kyle Christina Walter Joan Ethan Evelyn Jeremy Judith Harold Megan Keith Andrea Christian Cheryl Roger Hannah Noah
Jacqueline Gerald Martha Carl Gloria Terry Teresa Sean Ann Austin Sara Arthur Madison Lawrence Frances Jesse Kathryn Dylan
Janice Bryan Jean Joe Abigail Jordan Alice Billy Julia Bruce Judy Albert Sophia Willie Grace Gabriel Denise Logan Amber
Alan Doris Juan Marilyn Wayne Danielle Roy Beverly Ralph Isabella Randy Theresa Eugene Diana Vincent Natalie Russell
Brittany Elijah Charlotte Louis Marie Bobby Kayla Philip Alexis Johnny Lori Oliver Amelia Harry Isla Freya Poppy Imogen
Nigel Graham Gemma Callum Alfie Archie Finley Rhys Colin Derek Trevor Clive Hazel Edith Mabel Ivy Florence Ellie Millie
Tracy Tracey Stacy Dawn Holly Leslie Lesley Craig Darren Shaun Stuart Neil Geoffrey Ian Fred Ted Bob Bill Jim Tom Mike
Dave Steve Chris Nick Ben Sam Alex Max Matt Josh Jake Luke Liz Beth Kate Katie Jenny Becky Sue Meg Molly Maggie Lucy Rosie
Tim Ken Greg Jeff Ray Ron Don Rob Dan Ed Andy Tony Vicky Cindy Mandy Wendy Kim Lynn Gwen Faye Hope Rose Lily Daisy Violet
Claire Eleanor Harriet Rosemary Miriam Esther Naomi Leah Caleb Isaac Levi Mason Hunter Chase Cole Wyatt Owen Connor Liam
Aiden Jayden Carter Grayson Landon Brayden Chloe Zoe Ava Mia Aria Nora Riley Avery Harper Skylar Paisley Savannah Brooklyn
Ebony Latoya Tyrone Darnell Jamal DeShawn Keisha Shanice Malik Terrence Leroy Marcus Andre Malcolm Otis Cedric Lamar
Clarence Ernest Stanley Leonard Norman Bernard Howard Herbert Mildred Agnes Ethel Gladys Bertha Eunice Lois Thelma Wilma
Vera Erma Mable Cora Della Lorraine Maxine Jeanette Yvonne Annette Elaine Marlene Darlene Charlene Rhonda Tammy Tina Dana
Gina Carla Paula Sheila Erica Jill Monica Robin Leigh Shelby Shelly Kendra Krista Candice Felicia Bridget Colleen""",
        """Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Thomas Moore Jackson Martin Lee Thompson White
Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams Nelson Baker Hall Campbell Mitchell
Carter Roberts Phillips Evans Turner Parker Collins Edwards Stewart Morris Rogers Reed Cook Morgan Bell Murphy Bailey
Cooper Richardson Cox Howard Ward Peterson Gray Watson Brooks Kelly Sanders Price Bennett Wood Barnes Ross Henderson
Coleman Jenkins Perry Powell Long Patterson Hughes Washington Butler Simmons Foster Bryant Alexander Russell Griffin Hayes
Myers Ford Hamilton Graham Sullivan Wallace Woods Cole West Jordan Owens Reynolds Fisher Ellis Harrison Gibson Mcdonald
Cruz Marshall Ortiz Gomez Murray Freeman Wells Webb Simpson Stevens Tucker Porter Hunter Hicks Crawford Henry Boyd Mason
Morales Kennedy Warren Dixon Ramos Reyes Burns Gordon Shaw Holmes Rice Robertson Hunt Black Daniels Palmer Mills Nichols
Grant Knight Ferguson Rose Stone Hawkins Dunn Perkins Hudson Spencer Gardner Stephens Payne Pierce Berry Matthews Arnold
Wagner Willis Watkins Olson Carroll Duncan Snyder Hart Cunningham Bradley Lane Andrews Ruiz Harper Fox Riley Armstrong
Carpenter Weaver Greene Lawrence Elliott Chavez Sims Austin Peters Kelley Franklin Lawson Fields Gutierrez Ryan Schmidt
Carr Vasquez Castillo Wheeler Chapman Oliver Montgomery Richards Williamson Johnston Banks Meyer Bishop Mccoy Howell
Morrison Hansen Garza Harvey Little Burton Stanley Nguyen George Jacobs Reid Fuller Lynch Dean Gilbert Garrett Romero
Welch Larson Frazier Burke Hanson Day Moreno Bowman Fowler Whitaker Pritchard Ashworth Hargreaves Sutcliffe Winterbottom
Thistlewood Blackwood Fairchild Hathaway Kingsley Langford Merriweather Pemberton Ravenscroft Stratford Underwood
Wakefield Yardley Abernathy Beaumont Cavendish Drummond Ellsworth Fitzgerald Goodwin Holloway Ingram Kirkpatrick
Lockwood Mansfield Northcott Osborne Prescott Quigley Rutherford Sheffield Thornton Vaughn Whitfield Yates Bancroft""",
    ),
    "irish": (
        """Sean Siobhan Aoife Niamh Ciaran Eoin Declan Padraig Saoirse Roisin Orla Grainne Cormac Fergus Donal Brendan
Maeve Sinead Caoimhe Oisin Tadhg Conor Fiona Aisling Deirdre Eamon Liam Colm Brigid Nuala Mairead Finbar Cathal""",
        """O'Brien O'Connor O'Sullivan Murphy Byrne O'Reilly Doyle McCarthy Gallagher Doherty Kennedy Lynch O'Neill O'Donnell
Brennan Burke Daly Dunne Farrell Fitzpatrick Flanagan Flynn Healy Hogan Keane Kavanagh Maguire McGrath Nolan O'Leary
O'Rourke Quinn Regan Sheehan Sweeney Tierney Whelan McLoughlin McDermott MacNamara Mulligan Donoghue Hennessy Kiernan""",
    ),
    "scottish": (
        """Hamish Angus Ewan Iain Fergus Callum Catriona Mairi Eilidh Morag Isobel Ailsa Duncan Alasdair Lachlan Rory
Kirsty Fraser Struan Calum Shona Euan Blair Gregor Heather""",
        """MacDonald McGregor MacLeod Campbell Stewart Fraser McKenzie MacKay Cameron McIntyre McLean Ferguson Sutherland Sinclair
Buchanan Drummond Lindsay Galbraith Gillespie McAllister MacPherson McTavish Urquhart Dalgleish Abercrombie Murdoch""",
    ),
    "german": (
        """Lukas Anna Finn Lena Jonas Marie Felix Lea Maximilian Sophie Jürgen Heike Wolfgang Ursula Matthias Katrin Björn
Anke Günter Sabine Hans Klaus Dieter Manfred Helmut Uwe Karl-Heinz Thorsten Stefan Andreas Holger Monika Petra Renate
Brigitte Ingrid Gisela Helga Christa Elke Birgit Kerstin Anja Silke Tanja Steffi Franziska Johanna Greta Friedrich Heinrich
Otto Ludwig Gerhard Rainer Detlef Volker Ralf Jörg Tobias Sebastian Florian Moritz Niklas Leon Ben Paul Emil Anton Mathilda
Ida Frieda Lotte Klara Leonie Nele Svenja Wiebke Hannelore Irmgard Hildegard Annegret Dörte Gudrun Eberhard Siegfried
Reinhard Hartmut Lothar Bernd Jens Sven Kai Torben Malte Henning Marlene Jasmin Carsten Dirk Ulrich Hubert Xaver""",
        """Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein Wolf Schröder
Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Schmitt Werner Schmitz Krause Meier Lehmann Schmid Schulze
Maier Köhler Herrmann König Walter Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn Schubert Vogel Friedrich
Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster Simon Ludwig Böhm Winter Kraus Martin
Schumacher Krämer Vogt Stein Jäger Otto Sommer Groß Seidel Heinrich Brandt Haas Schreiber Graf Dietrich Ziegler Kuhn Kühn
Pohl Engel Horn Busch Bergmann Thomas Voigt Sauer Arnold Wolff Pfeiffer Eberhardt Baumgartner Steinbach Lichtenberg
Grünwald Rosenthal Hirschfeld Eisenmann Kirchner Brandenburg Sonnenschein Oberndorfer Niedermeier Hinterleitner
Gruber Steiner Moser Leitner Pichler Egger Wallner Brunner Aigner Zehetner Ackermann Bachmann Ammann Zürcher Frei""",
    ),
    "french": (
        """Louis Camille Gabriel Chloé Hugo Manon Jules Léa Arthur Inès François Hélène Théo Amélie Benoît Sylvie Rémi Margaux
Jean Marie Pierre Michel André Philippe Alain Jacques Bernard Nathalie Isabelle Catherine Françoise Monique Jacqueline
Christine Véronique Valérie Céline Aurélie Émilie Élodie Mathieu Guillaume Antoine Nicolas Olivier Laurent Thierry
Jean-Paul Jean-Luc Jean-Pierre Marie-Claire Anne-Sophie Étienne Gilles Yves Didier Pascal Fabrice Cédric Maxime Clément
Baptiste Lucie Juliette Mathilde Noémie Océane Solène Maëlle Gaëlle Clotilde Geneviève Colette Odette Simone Yvette Marcel
René Roger Gaston Fernand Lucien Léon Henri Édouard Raphaël Bastien Quentin Corentin Loïc Yann Erwan Thibault Florence
Ludovic Bertrand Régis Hervé Joël Nadine Josette Mireille Delphine Séverine Laetitia Virginie Agathe Capucine Élise""",
        """Martin Bernard Dubois Moreau Laurent Lefebvre Roux Fournier Girard Mercier Lambert Bonnet Faure Chevalier Gauthier Perrin
Lefèvre Rousseau Thomas Robert Richard Petit Durand Leroy Simon Michel Garcia David Bertrand Morel André Dupont Fontaine
François Martinez Legrand Garnier Blanc Guérin Boyer Muller Masson Colin Vidal Caron Renaud Picard Arnaud Barbier Brun
Dumas Schmitt Roy Meunier Meyer Brunet Blanchard Giraud Joly Rivière Lucas Brunel Gaillard Leclerc Lacroix Hubert Marchand
Aubert Renard Dumont Deschamps Carpentier Benoît Maillard Poirier Guillot Charpentier Berger Dufour Fabre Delmas Baudouin
Lemaire Leblanc Bourgeois Perrot Besson Tessier Charbonnier Delacroix Vasseur Beauchamp Desjardins Boucher Tremblay Gagnon
Bouchard Côté Pelletier Bélanger Lévesque Thibault d'Estaing de_La_Fontaine du_Plessis de_Villiers Le_Goff Le_Roux Kervella""",
    ),
    "spanish": (
        """Hugo Lucía Martín Paula Pablo Daniela Álvaro Carmen Javier Sofía Sergio Elena Iñigo Begoña Rubén Noelia José Juan
Antonio Manuel Francisco Luis Miguel Carlos Alejandro Pedro Rafael Fernando Jorge Alberto Ángel Andrés Ramón Enrique Vicente
Joaquín Diego Raúl Roberto Óscar Iván Adrián Mario Eduardo Ricardo Jaime Ignacio Alfonso Salvador Julio Emilio Guillermo
María Ana Isabel Dolores Pilar Teresa Rosa Cristina Ángeles Antonia Marta Francisca Laura Mercedes Luisa Concepción Rosario
José_Luis Juan_Carlos María_José Raquel Manuela Montserrat Rocío Esperanza Guadalupe Ximena Valentina Camila Renata Mateo
Santiago Sebastián Nicolás Benjamín Joaquina Itziar Nerea Aitana Jimena Consuelo Inmaculada Gonzalo Rodrigo Esteban Hernán
Facundo Lautaro Thiago Emiliano Maximiliano Leticia Yolanda Graciela Marisol Soledad Araceli Fermín Cristóbal Humberto""",
        """García Rodríguez Fernández López Martínez Sánchez Gómez Ruiz Díaz Moreno Álvarez Muñoz Romero Navarro Ortega Iglesias Pérez
González Jiménez Hernández Alonso Gutiérrez Torres Domínguez Vázquez Ramos Gil Ramírez Serrano Blanco Molina Morales Suárez
Delgado Castro Ortiz Rubio Marín Sanz Núñez Medina Castillo Cortés Garrido Santos Guerrero Lozano Cano Cruz Méndez Flores
Prieto Herrera Peña León Márquez Cabrera Gallego Calvo Vidal Campos Reyes Vega Fuentes Carrasco Aguilar Caballero Nieto
Santana Vargas Pascual Giménez Herrero Hidalgo Montero Lorenzo Santiago Benítez Durán Ibáñez Arias Mora Ferrer Carmona
Vicente Rojas Soto Crespo Roman Pastor Velasco Parra Sáez Moya Bravo Rivera Gallardo Soler Echeverría Urrutia Zubizarreta
Goikoetxea Etxebarria Mendoza Salazar Espinoza Contreras Sepúlveda Figueroa Valenzuela Bustamante Quispe Mamani Huamán
de_la_Cruz de_la_Torre del_Río Villanueva Altamirano Cárdenas Zúñiga Escobar Trujillo Ocampo Restrepo Londoño Ospina""",
    ),
    "portuguese": (
        """João Maria Tiago Beatriz Rui Inês Diogo Leonor Nuno Catarina Thiago Larissa Pedro Miguel Afonso Martim Rodrigo
Francisco Gonçalo Duarte Bernardo Matilde Carolina Mariana Margarida Lara Bruna Camila Letícia Rafaela Vitória Gustavo
Felipe Leandro Wagner Wellington Joaquim Vasco Fábio Hélder Sílvia Fátima Graça Conceição Luzia Raimundo Severino Adriana
Luciana Juliana Patrícia Aline Vanessa Caio Murilo Otávio Heitor Enzo Davi Anderson Everton Edson Cláudia Marlene Isadora""",
        """Silva Santos Ferreira Pereira Oliveira Costa Rodrigues Almeida Gonçalves Carvalho Araújo Barbosa Martins Jesus Sousa
Fernandes Lopes Marques Gomes Ribeiro Pinto Teixeira Moreira Correia Mendes Nunes Soares Vieira Monteiro Cardoso Rocha Raposo
Neves Coelho Cruz Cunha Pires Ramos Reis Simões Antunes Matos Fonseca Machado Tavares Lourenço Azevedo Barros Melo Cavalcanti
Nascimento Lima Souza Batista Campos Freitas Dias Moura Nogueira Figueiredo Guimarães Siqueira Bezerra Queiroz Medeiros
dos_Santos da_Silva de_Oliveira de_Souza Sampaio Brandão Vasconcelos Magalhães Pacheco Bragança Esteves Leitão Amaral""",
    ),
    "italian": (
        """Leonardo Giulia Francesco Aurora Lorenzo Alice Matteo Martina Alessandro Chiara Davide Elisa Niccolò Federica Marco
Andrea Luca Giuseppe Giovanni Antonio Mario Luigi Roberto Stefano Paolo Riccardo Simone Salvatore Vincenzo Pietro Giorgio
Enrico Fabio Massimo Claudio Daniele Gianluca Emanuele Alberto Sergio Filippo Gabriele Tommaso Edoardo Michele Raffaele
Domenico Anna Francesca Sara Laura Valentina Silvia Elena Alessia Giorgia Ilaria Roberta Paola Simona Monica Cristina
Barbara Daniela Serena Veronica Angela Rosa Caterina Lucia Teresa Beatrice Bianca Ludovica Camilla Ginevra Loredana Ornella
Pierluigi Gianmarco Ottavio Umberto Ettore Dario Renato Silvio Gaetano Carmelo Nunzia Assunta Concetta Graziella Fiorella""",
        """Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Conti Costa Mancini Barbieri Moretti Bruno Gallo
De_Luca Giordano Rizzo Lombardi Longo Leone Martinelli Marchetti Mariani Galli Santoro Fontana Caruso Ferrara Rinaldi Vitale
Serra Coppola De_Santis D'Angelo Villa Conte Ferraro Ferri Fabbri Bianco Marini Grasso Valentini Messina Sala De_Angelis
Gatti Pellegrini Palumbo Sanna Farina Rizzi Monti Cattaneo Morelli Amato Silvestri Mazza Testa Grassi Pellegrino Carbone
Giuliani Benedetti Barone Rossetti Caputo Montanari Guerra Palmieri Bernardi Martino Fiore De_Rosa Ferretti Bellini Basile
Riva Donati Piras Vitali Battaglia Sartori Neri Costantini Milani Pagano Ruggiero Sorrentino D'Amico Orlando Damico Negri
Della_Valle Di_Stefano Lo_Presti Zanetti Trevisan Bevilacqua Pasqualini Castiglione Quattrocchi Iannone Cirillo Scarpa""",
    ),
    "dutch": (
        """Daan Emma Sem Tess Bram Fleur Thijs Sanne Ruben Lotte Joost Marijke Jan Piet Kees Henk Willem Hendrik Johannes Gerrit
Cornelis Maarten Jeroen Bas Sander Wouter Pieter Koen Niels Stijn Lars Luuk Gijs Floris Teun Jasper Anouk Femke Marloes
Esther Ingrid Annelies Margriet Saskia Mieke Truus Wilma Hanneke Marjolein Iris Roos Eline Nienke Sjoerd Wijbrand Tjeerd
Jelle Froukje Griet Lieve Wim Dirk Geert Bart Katrien Ellen Els An Joris Jurgen Evelien Veerle Liesbeth""",
        """de_Jong Jansen de_Vries Bakker Visser Smit Meijer van_Dijk Mulder Bos van_den_Berg Hendriks Vos Peters Brouwer Dekker van_Leeuwen
de_Wit Dijkstra Smits de_Graaf van_der_Meer van_der_Linden Kok Jacobs van_Vliet Verhoeven Hoekstra Koster Prins Huisman Peeters
Kuipers van_Beek Postma Veenstra Kramer van_Wijk Gerritsen Scholten Willems Martens Groen Wouters van_Dam Bosch van_der_Veen
Janssens Maes Mertens Claes Goossens Wouters De_Smet Vermeulen De_Backer Van_Damme Lambrecht Desmet Hermans Aerts Michiels
Verstraete Vandenberghe Van_den_Broeck Hofstra Wiersma Zijlstra Terpstra Boonstra Schouten Zwart Blom Molenaar Timmermans""",
    ),
    "swedish": (
        """Erik Alva Lars Ebba Oskar Astrid Nils Linnea Björn Åsa Gustav Maja Anders Johan Per Karl Magnus Fredrik Henrik Mikael
Stefan Jonas Mattias Daniel Andreas Emil Viktor Axel Hugo William Elias Ludvig Malin Karin Kristina Birgitta Elisabet Margareta
Annika Eva Helena Ulla Ingela Gunilla Kerstin Lena Monica Sofia Frida Elin Ida Hanna Amanda Moa Wilma Tuva Signe Agnes Göran
Bengt Sven Olof Håkan Torbjörn Ragnar Inger Siv Britt Gun Majken Tove Hampus Rasmus Linus Joakim""",
        """Andersson Johansson Karlsson Nilsson Eriksson Larsson Svensson Lindberg Åberg Sjöström Holm Bergqvist Olsson Persson Gustafsson
Pettersson Jonsson Jansson Hansson Bengtsson Jönsson Lindström Jakobsson Magnusson Lindgren Axelsson Berglund Fredriksson
Sandberg Henriksson Forsberg Lundqvist Wallin Engström Eklund Danielsson Lundin Håkansson Björk Bergman Gunnarsson Samuelsson
Fransson Wikström Isaksson Arvidsson Nyström Holmberg Löfgren Söderberg Nyberg Blomqvist Claesson Mårtensson Nordström Lundgren
Hedlund Ekström Dahlberg Hellström Sundberg Strömberg Åkesson Nordin Ström Hermansson Holmgren Sundström Öberg Ekman Sjögren""",
    ),
    "norwegian": (
        """Ole Kari Bjørn Ingrid Lars Marit Kjell Solveig Arne Liv Svein Anne Knut Berit Odd Ragnhild Tor Astrid Geir Bente
Terje Randi Øyvind Hilde Håkon Silje Magnus Nora Jonas Thea Sindre Ida Eirik Maren Even Tuva Stian Guro Vegard Synne Trygve Åse
Gunnar Turid Leif Grete Rolf Sissel Egil Wenche Steinar Unni Morten Tone Espen Hege Henning Trine Torstein Sigrid""",
        """Hansen Johansen Olsen Larsen Andersen Pedersen Nilsen Kristiansen Jensen Karlsen Johnsen Pettersen Eriksen Berg Haugen Hagen
Johannessen Andreassen Jacobsen Dahl Jørgensen Halvorsen Henriksen Lund Sørensen Jakobsen Moen Gundersen Iversen Strand Solberg
Svendsen Eide Knutsen Martinsen Bakken Kristoffersen Mathisen Lie Rasmussen Amundsen Lunde Kristensen Bakke Berge Moe Nygård
Fredriksen Solheim Holm Nguyen Lien Hauge Christensen Nielsen Andresen Knudsen Evensen Sæther Aas Hanssen Haugland Ødegård""",
    ),
    "danish": (
        """Mette Anders Søren Kirsten Lars Hanne Jens Anne Henrik Lone Peter Camilla Michael Louise Niels Charlotte Thomas Pia
Mads Freja Frederik Ida Emil Clara Magnus Sofie Rasmus Mathilde Jeppe Signe Kasper Cecilie Nikolaj Amalie Jakob Line Morten Rikke
Flemming Birthe Poul Inge Jørgen Grethe Kaj Bodil Viggo Agnete Ejnar Karen Troels Maja Asger Astrid Bjarne Vibeke Torben Gitte
Arvid Holger Ellen Svend Esben Malthe Storm Oline Tilde Filippa""",
        """Nielsen Jensen Hansen Pedersen Andersen Christensen Larsen Sørensen Rasmussen Jørgensen Petersen Madsen Kristensen Olsen Thomsen
Christiansen Poulsen Johansen Møller Mortensen Knudsen Jakobsen Mikkelsen Olesen Frederiksen Laursen Henriksen Lund Schmidt
Eriksen Holm Kristiansen Clausen Simonsen Svendsen Andreasen Iversen Jeppesen Mogensen Jespersen Nissen Lauridsen Frandsen
Østergaard Kjær Nørgaard Dahl Vestergaard Bertelsen Bruun Lauritsen Winther Skov Toft Bech Friis Hald Overgaard Bak Krogh""",
    ),
    "finnish": (
        """Matti Liisa Juhani Maria Timo Anna Mikko Päivi Jukka Aino Pekka Kaisa Antti Helena Kari Johanna Heikki Marja Ville Sanna
Jari Tuula Markku Ritva Seppo Pirjo Juha Tiina Sami Satu Janne Minna Petri Katja Tero Hanna Eero Riikka Onni Eevi Väinö Helmi
Eino Aada Oiva Kerttu Toivo Lempi Arvo Saara Veikko Kaarina Tapio Irma Olli Venla Lauri Elina Hannu Eila Aleksi Iida Tuomas
Kalle Outi Ilkka Mervi Reijo Raija Esa Sirpa Kimmo Taina Risto Leena Vesa Merja""",
        """Korhonen Virtanen Mäkinen Nieminen Mäkelä Hämäläinen Laine Heikkinen Koskinen Järvinen Lehtonen Lehtinen Saarinen Salminen
Heinonen Niemi Heikkilä Kinnunen Salonen Turunen Salo Laitinen Tuominen Rantanen Karjalainen Jokinen Mattila Savolainen
Lahtinen Ahonen Ojala Leppänen Väisänen Hiltunen Kallio Miettinen Leinonen Pitkänen Aaltonen Manninen Hakala Koivisto
Anttila Laaksonen Hirvonen Räsänen Lehto Laakso Toivonen Mustonen Aalto Rautio Partanen Moilanen Peltola Pesonen Lindroos
Kokkonen Kärkkäinen Kettunen Ikonen Haapala Sillanpää Vainio Kivelä Nurmi Rissanen Pulkkinen Vuorinen Hänninen Oksanen""",
    ),
    "icelandic": (
        """Jón Guðrún Sigurður Anna Guðmundur Sigríður Gunnar Kristín Ólafur Margrét Einar Helga Magnús Sigrún Stefán Ingibjörg
Jóhann Katrín Björn Hildur Þór Ragnheiður Birgir Ásta Haraldur Lilja Bjarni Hulda Árni Þóra Kristján Guðbjörg Hafdís Snorri""",
        """Jónsson Jónsdóttir Sigurðsson Sigurðardóttir Guðmundsson Guðmundsdóttir Gunnarsson Gunnarsdóttir Ólafsson Ólafsdóttir
Einarsson Magnúsdóttir Stefánsson Kristjánsdóttir Björnsson Ragnarsdóttir Árnason Haraldsdóttir Bjarnason Þórsdóttir""",
    ),
    "polish": (
        """Jan Zuzanna Jakub Julia Kacper Maja Piotr Agnieszka Tomasz Katarzyna Michał Małgorzata Krzysztof Anna Andrzej Barbara
Stanisław Ewa Paweł Krystyna Marcin Elżbieta Marek Magdalena Grzegorz Joanna Jerzy Aleksandra Tadeusz Monika Adam Danuta Łukasz
Teresa Zbigniew Janina Ryszard Irena Dariusz Halina Henryk Jadwiga Mariusz Dorota Kazimierz Jolanta Wojciech Renata Robert
Bożena Mateusz Beata Rafał Iwona Jacek Wiesława Janusz Grażyna Mirosław Urszula Sławomir Sylwia Wiktor Oliwia Szymon Hanna
Filip Antoni Franciszek Bartosz Radosław Przemysław Zofia Wanda Bogumiła Dobrosława Bolesław Czesław Zdzisław Kinga Justyna""",
        """Nowak Kowalski Wiśniewska Wójcik Kamiński Lewandowska Zieliński Szymańska Dąbrowski Mazur Krawczyk Piotrowska Kowalczyk Wiśniewski
Kowalska Kamińska Lewandowski Zielińska Woźniak Szymański Dąbrowska Kozłowski Jankowska Mazurek Kwiatkowski Krawczyk Kaczmarek
Piotrowski Grabowska Pawłowski Michalska Król Nowakowski Wieczorek Wróbel Jabłoński Dudek Adamczyk Majewski Nowicki Olszewska
Stępień Malinowski Jaworska Pawlak Górski Witkowska Walczak Sikora Rutkowski Baran Michalak Szewczyk Ostrowski Tomaszewska
Pietrzak Duda Zalewski Wróblewska Jasiński Marciniak Sadowski Bąk Zawadzka Duda Jakubowski Wilk Włodarczyk Chmielewski
Borkowska Sokołowski Szczepańska Sawicki Kucharska Lis Kubiak Kalinowski Wysocka Maciejewski Kołodziej Czarnecki Urban""",
    ),
    "czech": (
        """Jan Jana Petr Marie Josef Eva Pavel Hana Jaroslav Anna Martin Lenka Tomáš Kateřina Miroslav Věra Zdeněk Lucie Václav Alena
František Petra Michal Veronika Milan Jaroslava Karel Tereza Jakub Martina Lukáš Michaela David Jitka Vladimír Helena Jiří
Ludmila Ondřej Zdeňka Roman Ivana Stanislav Jarmila Marek Monika Radek Zuzana Vojtěch Markéta Bohumil Božena Dušan Radka Matěj
Adéla Filip Kristýna Eliška Barbora Klára Oldřich Květa Juraj Ľubomír Zlatica Katarína Marián Soňa""",
        """Novák Nováková Svoboda Svobodová Novotný Novotná Dvořák Dvořáková Černý Černá Procházka Procházková Kučera Kučerová Veselý Veselá
Horák Horáková Němec Němcová Marek Marková Pokorný Pokorná Pospíšil Pospíšilová Hájek Hájková Král Králová Jelínek Jelínková
Růžička Růžičková Beneš Benešová Fiala Fialová Sedláček Sedláčková Doležal Doleželová Zeman Zemanová Kolář Kolářová Krejčí
Navrátil Navrátilová Čermák Čermáková Urban Urbanová Vaněk Vaňková Blažek Blažková Kříž Křížová Kratochvíl Kopecký
Hudec Kováč Kováčová Horváth Horváthová Varga Tóth Nagyová Baláž Molnárová Polák Gajdoš Ďurica Šimek Šťastný Vávra Hruška""",
    ),
    "hungarian": (
        """László István József János Zoltán Sándor Gábor Ferenc Attila Péter Tamás Zsolt Tibor András Csaba Imre Lajos György
Balázs Gyula Mihály Károly Róbert Béla Dávid Dániel Ádám Krisztián Miklós Norbert Bence Máté Levente Mária Erzsébet Katalin
Ilona Éva Anna Zsuzsanna Margit Judit Ágnes Julianna Andrea Ildikó Erika Krisztina Irén Eszter Magdolna Mónika Edit Gabriella
Szilvia Anita Anikó Viktória Márta Rozália Tímea Piroska Réka Dóra Emese Boglárka Kinga Enikő Kornél Szabolcs Gergő""",
        """Nagy Kovács Tóth Szabó Horváth Varga Kiss Molnár Németh Farkas Balogh Papp Takács Juhász Lakatos Mészáros Oláh Simon Rácz Fekete
Szilágyi Török Fehér Balázs Gál Kis Szűcs Kocsis Orsós Pintér Fodor Szalai Sipos Magyar Lukács Gulyás Biró Király László Katona
Jakab Bogdán Balog Sándor Boros Fazekas Kelemen Antal Somogyi Váradi Fülöp Orosz Vincze Veres Hegedűs Deák Pap Budai Pál Szőke
Barabás Bognár Bodnár Illés Szekeres Halász Lengyel Kozma Hegyi Erdős Vörös Barta Kerekes Csonka Major Nemes Soós Halmos""",
    ),
    "romanian": (
        """Andrei Maria Alexandru Elena Ion Ioana Mihai Ana Gheorghe Cristina Constantin Mihaela Ștefan Andreea Vasile Daniela Nicolae
Gabriela Florin Alina Adrian Simona Bogdan Raluca Cătălin Roxana Răzvan Oana Dragoș Iulia Sorin Monica Marius Laura Costel Mădălina
Viorel Doina Liviu Anca Radu Denisa Vlad Bianca Tudor Corina Octavian Larisa Ilie Camelia Petru Rodica""",
        """Popescu Ionescu Popa Radu Dumitru Stan Stoica Gheorghe Matei Ciobanu Rusu Constantin Marin Lazăr Dumitrescu Nistor Ungureanu Munteanu
Moldovan Toma Stancu Sandu Dinu Florea Georgescu Barbu Preda Neagu Manole Cristea Nicolae Șerban Dobre Diaconu Tudor Petrescu
Anghel Iordache Oprea Voicu Bălan Cojocaru Mocanu Enache Vasilescu Constantinescu Albu Pavel Grigore Bratu Suciu Coman Iliescu""",
    ),
    "south_slavic": (
        """Marko Ana Ivan Marija Luka Ivana Nikola Jelena Petar Milica Stefan Jovana Milan Dragana Josip Petra Ante Katarina Tomislav
Martina Zoran Snežana Goran Gordana Dragan Vesna Željko Ljiljana Branko Mirjana Hrvoje Kristina Davor Sanja Igor Tanja Bojan Maja
Aleksandar Tijana Miloš Teodora Vuk Lana Filip Lucija Matej Nina Jakov Ema Borut Mojca Janez Urška Andrej Špela Gregor Nataša
Georgi Elena Dimitar Ivanka Ivaylo Desislava Hristo Tsvetelina Plamen Radka Todor Vasilka Stoyan Rositsa Kalin Boyana Lyubomir
Amir Emina Haris Lejla Adnan Amra Mirza Selma Edin Azra""",
        """Horvat Kovačević Babić Marić Jurić Novak Kovačić Vuković Knežević Marković Petrović Matić Tomić Pavlović Jovanović Nikolić Ilić Đorđević
Stojanović Milošević Popović Lukić Janković Stanković Savić Kostić Živković Tadić Filipović Šimić Božić Perić Brkić Vidović
Blažević Bašić Grgić Pavić Radić Šarić Lovrić Krajnc Zupančič Potočnik Kovač Mlakar Vidmar Golob Kos Hribar Turk Božič Kralj Zupan
Ivanov Georgieva Dimitrov Petrova Nikolov Ivanova Hristov Todorova Stoyanov Marinova Angelov Kostadinova Vasilev Iliev Popov
Hadžić Hodžić Čengić Delić Demirović Osmanović Hasanović Bešić Begić Mujić""",
    ),
    "russian": (
        """Ivan Olga Sergei Natalia Dmitri Elena Alexei Tatiana Mikhail Irina Andrei Svetlana Vladimir Anastasia Nikolai Ekaterina Pavel
Maria Viktor Yulia Igor Oksana Boris Galina Yuri Lyudmila Anatoly Marina Oleg Larisa Konstantin Polina Maxim Ksenia Roman Daria
Artem Alina Kirill Valentina Vasily Nadezhda Grigory Vera Fyodor Lidia Vyacheslav Zinaida Stanislav Yana Denis Evgenia Anton
Yelena Timur Zhanna Ruslan Inna Gennady Raisa Leonid Tamara Arkady Snezhana Egor Milana Gleb Varvara Ilya Sofiya Taras Oksana
Bohdan Kateryna Oleksandr Yulia Volodymyr Iryna Andriy Olena Mykola Svitlana Yevhen Nataliya Serhiy Halyna Vitaliy Lesya Ostap""",
        """Ivanov Ivanova Smirnov Smirnova Kuznetsov Kuznetsova Popov Popova Vasiliev Petrov Petrova Sokolov Sokolova Mikhailov Novikov Fedorov
Morozov Morozova Volkov Volkova Alekseev Lebedev Lebedeva Semenov Egorov Pavlov Kozlov Kozlova Stepanov Nikolaev Orlov Orlova Andreev
Makarov Nikitin Zakharov Zaitsev Solovyov Borisov Yakovlev Grigoriev Romanov Vorobyov Sergeev Kuzmin Frolov Alexandrov Dmitriev
Korolev Gusev Kiselev Ilyin Maximov Polyakov Sorokin Vinogradov Kovalev Belov Medvedev Antonov Tarasov Zhukov Baranov Filippov
Krylova Zhuravlev Shcherbakov Tikhonov Bykov Ryabov Chernyshevsky Dostoevsky Lermontov Rozhdestvensky
Shevchenko Kovalenko Bondarenko Tkachenko Kravchenko Oliynyk Shevchuk Polishchuk Boyko Melnyk Lysenko Marchenko Rudenko Savchenko
Moroz Petrenko Kravets Havrylyuk Klymenko Ponomarenko Vasylenko Levchenko Kharchenko Kuzmenko Yushchenko Tymoshenko Zelensky""",
    ),
    "greek": (
        """Giorgos Maria Dimitris Eleni Nikos Katerina Yannis Vasiliki Kostas Sofia Panagiotis Angeliki Christos Georgia Vasilis Dimitra
Athanasios Ioanna Michalis Konstantina Evangelos Paraskevi Spyros Anna Thanasis Evangelia Stavros Despina Petros Chrysa Apostolos
Fotini Antonis Zoe Alexandros Kalliopi Stelios Anastasia Theodoros Eirini Leonidas Eftychia Manolis Aspasia""",
        """Papadopoulos Papadopoulou Vlahos Angelopoulos Nikolaidis Georgiou Petrou Dimitriadis Papadakis Konstantinidis Karagiannis
Vasileiou Papageorgiou Antoniou Makris Ioannidis Alexiou Christodoulou Economou Samaras Kostopoulos Mavros Pappas Theodorou
Anagnostopoulos Athanasiou Stavropoulos Oikonomidis Zervas Kalogeropoulos Theodorakis Venizelos Tsipras Mitsotakis Xenakis""",
    ),
    "turkish": (
        """Mehmet Ayşe Mustafa Zeynep Emre Elif Burak Defne Can Selin Ahmet Fatma Ali Emine Hüseyin Hatice Hasan Meryem İbrahim Şerife
İsmail Zehra Osman Sultan Yusuf Hanife Murat Merve Ömer Büşra Kemal Esra Serkan Ebru Onur Özlem Tolga Gamze Barış Derya Cem Pınar
Ufuk Sibel Volkan Aslı Kaan Ece Berk Ceren Deniz Tuğba Okan Gül Umut Nazlı Cengiz Dilek Yasemin Halil Aylin Koray""",
        """Yılmaz Kaya Demir Çelik Şahin Öztürk Aydın Arslan Doğan Koç Yıldız Yıldırım Özdemir Kılıç Aslan Çetin Kara Kurt Özkan Şimşek Polat
Özcan Korkmaz Çakır Erdoğan Yavuz Can Acar Şen Aktaş Güler Yalçın Güneş Bozkurt Bulut Keskin Ünal Turan Gül Özer Işık Kaplan Avcı
Sarı Tekin Taş Köse Yüksel Ateş Aksoy Türkoğlu Karaoğlu Hacıoğlu Uzun Erol Bayraktar Karakaya Demirtaş Albayrak Kızılkaya""",
    ),
    "arabic": (
        """Mohammed Fatima Ahmed Aisha Ali Maryam Omar Zainab Hassan Khadija Hussein Layla Ibrahim Amina Khalid Nour Youssef Sara Mahmoud
Hana Mustafa Salma Abdullah Huda Karim Rania Samir Dina Tariq Yasmin Bilal Leila Hamza Mona Faisal Reem Nasser Nadia Walid Samira
Rashid Lina Saeed Noura Majid Hala Jamal Rana Zaid Farah Adel Iman Sami Ghada Fahad Abeer Sultan Latifa Mansour Wafa Abdulrahman
Munira Abdulaziz Maha Ayman Suad Osama Basma Ziad Hiba Hisham Sawsan Anwar Jumana Ramzi Zeina Imad Rasha Haitham Shaimaa
Muhammad Mohamed Amir Sumaya Sahar Nizar Ghassan Bashir Mourad Slimane Rachid Fatiha Houda Meriem Tahar Bouchra""",
        """Al-Saud Al-Rashid Al-Farsi Hassan Ali Khan Mansour Haddad Khoury Nasser Saleh Abdallah El-Sayed Mahmoud Ibrahim Ahmed Hussein
Al-Masri Al-Shami Al-Baghdadi Qasim Rahman Abbas Darwish Najjar Khalil Hamdan Bakr Aziz Salem Shaheen Al-Qahtani Al-Otaibi
Al-Harbi Al-Ghamdi Al-Zahrani Al-Dosari Al-Mutairi bin_Salman Bensalah Benali Bouazza Belkacem Benchekroun El_Amrani El_Idrissi
Alaoui Tazi Fassi Cherkaoui Mansouri Trabelsi Ben_Ammar Gharbi Jaziri Zidane Boudiaf Hamidi Bouteflika Saidi Rahmani Touati
Barakat Sabbagh Sayegh Tannous Fakhoury Habibi Obeid Othman Sharif Sultan Taha Yassin Zaki Fawzy Ghanem Halabi Jaber Kassem""",
    ),
    "persian": (
        """Ali Zahra Reza Fatemeh Mehdi Maryam Hossein Narges Amir Sara Mohammad Leila Saeed Shirin Behrouz Parisa Dariush Nasrin Cyrus
Roya Kourosh Azadeh Farhad Mina Babak Niloufar Siavash Golnaz Arash Yasaman Kamran Setareh Omid Bahar Navid Taraneh Pouya Mahsa
Shahram Nahid Bijan Soraya Jamshid Farzaneh Iraj Ladan""",
        """Ahmadi Hosseini Mohammadi Rezaei Karimi Moradi Jafari Rahimi Hashemi Sadeghi Ebrahimi Mousavi Akbari Kazemi Rostami Ghorbani Heidari
Ghasemi Najafi Norouzi Tehrani Shirazi Esfahani Tabrizi Farahani Yazdani Khosravi Bahrami Soltani Zand Pahlavi Golzar Namjoo""",
    ),
    "indian": (
        """Aarav Ananya Rohan Priya Vikram Kavya Arjun Meera Sanjay Divya Rahul Lakshmi Imran Sunita Amit Pooja Rajesh Neha Suresh Anjali
Ravi Deepa Vijay Shreya Anil Rekha Manoj Geeta Sunil Nisha Ashok Kiran Ramesh Swati Dinesh Asha Prakash Usha Ajay Jyoti Arun
Shanti Mohan Radha Gopal Sita Krishna Parvati Harish Indira Naveen Padma Karthik Vidya Ganesh Saraswati Pradeep Aishwarya Nikhil
Ishita Siddharth Tanvi Aditya Riya Kunal Sneha Varun Isha Gaurav Ritu Abhishek Pallavi Deepak Shilpa Sachin Madhuri Venkatesh
Balaji Murugan Selvi Thirumalai Harpreet Gurpreet Manpreet Jaspreet Amarjit Simran Baljit Farhan Ayesha Salman Zoya Tenzin""",
        """Sharma Patel Singh Gupta Iyer Nair Reddy Das Mehta Khan Joshi Chatterjee Rao Kulkarni Kumar Verma Agarwal Mishra Pandey Yadav Tiwari
Shah Desai Jain Malhotra Kapoor Chopra Bhatia Banerjee Mukherjee Ghosh Bose Sen Dutta Roy Menon Pillai Krishnan Subramanian
Venkataraman Ramachandran Srinivasan Raghavan Natarajan Chandrasekhar Iyengar Naidu Gowda Shetty Hegde Kamath Bhat Deshpande
Patil Jadhav Pawar Shinde Gaikwad Thakur Chauhan Rathore Rajput Saxena Srivastava Tripathi Dubey Shukla Bhardwaj Kaur Gill Sandhu
Dhillon Grewal Sidhu Ahluwalia Bajaj Arora Sethi Khanna Bedi Anand Mathur Trivedi Vyas Bhatt Parekh Modi Ambani Tata Fernandes
D'Souza Pereira Kurian Varghese Thomas Jayawardena Perera Silva Wickramasinghe Bandaranaike Rajapaksa Gunawardena Thapa Gurung
Shrestha Tamang Rahman Hossain Islam Chowdhury Begum Akhtar Uddin Siddiqui Qureshi Malik Butt Chaudhry Bhutto Baloch""",
    ),
    "chinese": (
        """Wei Li_Na Jun Fang Hao Xiu Ming Yan Lan Bo Hui Xiaoming Xiaohong Jianguo Guoqiang Meiling Yifan Zihan Haoran Yuxuan Xinyi Ziyi
Jiahao Junjie Tao Lei Qiang Ping Hong Ying Jing Lin Na Juan Xia Dan Bin Peng Chao Yong Gang Jie Ting Xue Qian Rui Yue Shan Mei
Zhiwei Weijia Xiaoyu Yuting Mingyu Tianyu Wenjie Shuyi Chunhua Guihua Zhenhua Donghai Kai Feng Long Ka-Wai Chi-Ming Wing-Yan
Siu-Ling Kwok-Wah Wai-Man Tsz-Ching Mei-Ling Chun-Hao Yu-Ting Chia-Hao Ya-Ting Shu-Fen""",
        """Wang Li Zhang Liu Chen Yang Zhao Huang Zhou Wu Xu Sun Hu Zhu Gao Lin He Guo Ma Luo Liang Song Zheng Xie Han Tang Feng Yu Dong Xiao
Cheng Cao Yuan Deng Fu Shen Zeng Peng Lu Su Jiang Cai Jia Ding Wei Xue Ye Yan Pan Du Dai Xia Zhong Tian Ren Fan Fang Shi Yao Tan
Liao Zou Xiong Jin Hao Kong Bai Cui Kang Mao Qiu Qin Gu Hou Shao Meng Long Wan Duan Qian Tsai Tsang Wong Chan Cheung Leung Lau Ng
Kwok Chow Yeung Tse Fung Ho Lam Yip Choi Chiu Hsu Hsieh Kuo Chang Ou-Yang Szeto Ouyang Zhuge Sima""",
    ),
    "japanese": (
        """Haruto Yui Sota Hina Kenji Aiko Takumi Sakura Daiki Naomi Hiroshi Emi Takashi Yuki Akira Yoko Kazuo Keiko Makoto Michiko Satoshi
Yumi Tatsuya Megumi Shinji Kaori Ryota Mai Kenta Ayaka Yuto Misaki Shota Nanami Naoki Tomoko Masahiro Junko Ichiro Hanako Jiro
Sachiko Saburo Noriko Koji Reiko Tsuyoshi Mariko Hideo Chiyo Isamu Fumiko Osamu Etsuko Shigeru Kiyoko Minoru Setsuko Noboru
Ren Aoi Hinata Rin Riku Mei Itsuki Himari Yamato Ichika Asahi Sara Kaito Mio""",
        """Sato Suzuki Takahashi Tanaka Ito Watanabe Nakamura Kobayashi Kato Yamamoto Inoue Matsumoto Yoshida Yamada Sasaki Yamaguchi Saito
Kimura Hayashi Shimizu Yamazaki Mori Abe Ikeda Hashimoto Yamashita Ishikawa Nakajima Maeda Fujita Ogawa Goto Okada Hasegawa
Murakami Kondo Ishii Sakamoto Endo Aoki Fujii Nishimura Fukuda Ota Miura Fujiwara Okamoto Matsuda Nakagawa Nakano Harada Ono
Tamura Takeuchi Kaneko Wada Nakayama Ishida Ueda Morita Hara Shibata Sakai Kudo Yokoyama Miyazaki Miyamoto Uchida Takagi Ando
Taniguchi Ohno Maruyama Imai Takada Fujimoto Murata Takeda Ueno Sugiyama Masuda Sugawara Hirano Kojima Otsuka Chiba Kubo
Matsui Iwasaki Sakurai Kinoshita Noguchi Matsuo Nomura Kikuchi Sano Onishi Sugimoto Arai Fukunaga Morishita Toyoda Honda""",
    ),
    "korean": (
        """Minjun Seoyeon Jiho Jiwoo Seojun Haeun Hyunwoo Soyeon Jihoon Yuna Dongwook Hyejin Sungmin Eunji Jaehyun Minji Youngho Sujin
Kyungsoo Jisoo Taehyung Nayeon Junho Chaewon Seunghyun Dahye Min-jun Seo-yeon Ji-hoon Hye-jin Sung-ho Eun-hee Young-soo Mi-kyung
Jae-won Soo-jin Kyung-hee In-hye Sang-woo Bo-ra Woo-jin Ha-na Do-yun Ye-jin Tae-hyun Yoo-mi""",
        """Kim Lee Park Choi Jung Kang Cho Yoon Jang Lim Han Oh Seo Shin Kwon Hwang Ahn Song Ryu Jeon Hong Ko Moon Yang Son Bae Baek Heo Yoo Nam
Sim Noh Ha Kwak Sung Cha Joo Woo Koo Min Jin Ryoo Na Ji Um Chae Won Chun Bang Kong Hyun Ham Byun Yeo Chu Do So Seok Sun Seol""",
    ),
    "vietnamese": (
        """Anh Linh Minh Huong Hung Lan Tuan Hoa Dung Mai Nam Thuy Long Ngoc Hai Phuong Quang Trang Thanh Nga Duc Hanh Khanh Thao Bao
Yen Cuong Nhung Thang Van Phuc Quynh Trung Hien Tien Thu Vinh Loan Nghia My Đức Hương Tuấn Thảo Ngọc Hải Quỳnh Nguyệt Văn_Nam
Thị_Hoa Thị_Lan Văn_Hùng Minh_Anh Thanh_Hà Hồng_Nhung Quốc_Bảo Đình_Khôi""",
        """Nguyen Tran Le Pham Hoang Huynh Phan Vu Vo Dang Bui Do Ho Ngo Duong Ly Dinh Dao Doan Vuong Trinh Truong Lam Mai Cao Luong Nguyễn Trần
Lê Phạm Hoàng Huỳnh Vũ Võ Đặng Đỗ Hồ Ngô Dương Lý Đinh Đào Trịnh Trương""",
    ),
    "southeast_asian": (
        """Budi Siti Agus Dewi Joko Sri Eko Putri Adi Ratna Bambang Wati Dwi Indah Hendra Rina Wayan Made Ketut Nyoman Yusuf Fitri
Rizky Ayu Andi Lestari Iskandar Nurul Azlan Farah Ahmad Nur Aisyah Hafiz Zulkifli Rosmah Mei_Ling Somchai Malee Somsak Siriporn
Prasert Ratana Wichai Apinya Nattapong Kanya Chaiwat Sunisa Maria_Clara Juan_Miguel Jericho Marites Rodrigo Imelda Benigno Ligaya
Dalisay Bayani Sokha Sophea Bopha Rithy Aung Khin Thant Mya Zaw Hla Min Nilar""",
        """Santoso Wijaya Susanto Hidayat Setiawan Saputra Nugroho Kusuma Wibowo Suharto Sukarno Widodo Siregar Nasution Simanjuntak Hutapea
Pangestu Gunawan Halim Rahmawati Lestari Hartono bin_Abdullah binti_Hassan bin_Ismail Razak Mahathir Tan Lim Goh Teo Ong
Santos Reyes Cruz Bautista Ocampo Garcia Mendoza Aquino Villanueva Dela_Cruz Macapagal Magsaysay Dimaculangan Pacquiao
Srisuk Chaiyaporn Wongsakul Suwannarat Phongphan Thongchai Rattanakosin Shinawatra Saetang Chea Sok Heng Kyaw Win Naing Htun""",
    ),
    "west_african": (
        """Chinedu Amina Emeka Ngozi Tunde Funke Ibrahim Zainab Kofi Ama Chukwuemeka Adaeze Oluwaseun Folake Babatunde Yetunde Olumide
Temitope Ifeanyi Chiamaka Obinna Nneka Uchenna Chioma Segun Bukola Ayodele Titilayo Musa Hauwa Sani Aisha Abubakar Halima Kwame
Akosua Kwabena Abena Kojo Adwoa Yaw Efua Kwesi Esi Mamadou Fatoumata Ousmane Aminata Ibrahima Mariama Cheikh Ndeye Modou Awa
Boubacar Kadiatou Sekou Oumou Moussa Bintou Lamine Djeneba Ebele Somto Kelechi Onyeka Olabisi Damilola Adebayo Adunni""",
        """Okafor Adeyemi Bello Eze Okonkwo Balogun Mensah Abubakar Nwosu Asante Adebayo Okoro Nwachukwu Onyekachi Obi Chukwu Okeke Nnamdi
Achebe Adichie Soyinka Olatunji Ogunleye Oyelaran Adeleke Akinwande Fashola Obasanjo Babangida Yusuf Danjuma Mohammed Boateng
Osei Owusu Agyeman Appiah Amoako Annan Nkrumah Ofori Addo Antwi Diallo Traoré Keita Coulibaly Touré Konaté Camara Sylla Bah Barry
Ndiaye Diop Fall Sow Ba Sarr Gueye Mbaye Cissé Koné Ouattara Kouassi Yao Sankara Ouédraogo Zongo Eyadéma Mbeki""",
    ),
    "east_southern_african": (
        """Wanjiru Kamau Njeri Otieno Achieng Mwangi Nyambura Kipchoge Chebet Juma Neema Baraka Zawadi Jabari Imani Omondi Akinyi
Wambui Kariuki Thabo Nomvula Sipho Thandiwe Bongani Zanele Mandla Nokuthula Lerato Tshepo Naledi Kagiso Palesa Tendai Rutendo Farai
Tatenda Chipo Tinashe Abebe Tigist Bekele Almaz Haile Selamawit Tesfaye Hirut Dawit Meseret Girma Aster Desta Mulugeta
Habtamu Abdi Hodan Farah Ayaan Mohamud Ifrah Jean-Bosco Uwimana Niyonkuru Habimana Mukamana Ssemakula Nakato Wasswa Babirye""",
        """Dlamini Mwangi Nkosi Khumalo Ndlovu Zulu Mthembu Mokoena Molefe Sithole Mahlangu Mabaso Ngcobo Buthelezi Zuma Ramaphosa Mandela Sisulu
Tambo Botha van_der_Merwe Pretorius Kruger Coetzee Venter du_Toit Steyn Kamau Njoroge Kimani Ochieng Odhiambo Otieno Wanjala
Kipkorir Cheruiyot Kiprotich Rotich Kenyatta Odinga Moyo Mugabe Chikwanha Mutasa Nyathi Sibanda Banda Phiri Mwale Tembo Zimba
Gebre Tadesse Bekele Wolde Alemu Mengistu Desalegn Kebede Assefa Haile Mekonnen Warsame Farah Abdullahi Mohamud Mugisha Tumusiime
Byaruhanga Kagame Nshimiyimana Rwigema Mobutu Kabila Tshisekedi Lumumba Ilunga Mutombo""",
    ),
    "hebrew": (
        """Noam Tamar Itai Noa Uri Maya Yosef Shira David Yael Moshe Avigail Eitan Adi Ariel Michal Yonatan Talia Amit Rivka Daniel Hadas Oren
Dafna Gilad Sivan Nir Orly Ronen Ayelet Eyal Keren Yair Liora Boaz Einat Shlomo Chaya Avraham Malka Menachem Shoshana Yitzhak
Devorah Tzvi Batya Yehuda Hila""",
        """Cohen Levy Mizrahi Peretz Biton Dahan Avraham Friedman Azulay Katz Malka Yosef David Ohayon Gabay Amar Ben-David Shapira Goldberg
Rosenberg Goldstein Bernstein Rosenthal Weiss Kaplan Segal Shalom Ben-Ari Bar-Lev Almog Peled Harel Golan Barak Netanyahu
Rabinovich Feldman Epstein Adler Klein Stern Grossman Oz Yehoshua Appelfeld Zuckerman Silverman Blumenthal Finkelstein""",
    ),
    "baltic_caucasian": (
        """Jonas Rūta Tomas Eglė Mindaugas Ieva Vytautas Lina Darius Aistė Gintaras Jūratė Kęstutis Rasa Andris Līga Jānis Inga Mārtiņš
Ilze Edgars Kristīne Juris Baiba Rein Tiina Jaan Liis Tõnu Kadri Madis Piret Ülle Toomas Siim Giorgi Nino Levan Tamar Irakli Ketevan
Davit Mariam Zurab Eka Armen Anahit Tigran Lusine Hayk Narine Gevorg Ani Vardan Siranush Elnur Aygun Rashad Leyla Ilham Sevda
Nursultan Aigerim Daniyar Zhanar Bakyt Gulnara Ulugbek Dilnoza Rustam Nigora Azamat Madina Batbayar Oyuun Altan Enkhtuya""",
        """Kazlauskas Jankauskas Petrauskas Stankevičius Vasiliauskas Žukauskas Butkus Paulauskas Kazlauskienė Jankauskaitė Petrauskaitė Bērziņš
Kalniņš Ozols Jansons Ozoliņa Liepiņa Krūmiņš Balodis Eglītis Tamm Saar Sepp Mägi Kask Kukk Rebane Ilves Pärn Koppel Saks
Beridze Kapanadze Gelashvili Maisuradze Giorgadze Lomidze Tsiklauri Kvaratskhelia Shevardnadze Saakashvili Ivanishvili Petrosyan
Hakobyan Sargsyan Harutyunyan Grigoryan Khachatryan Karapetyan Vardanyan Hovhannisyan Manukyan Aliyev Mammadov Hasanov Guliyeva
Huseynov Nazarbayev Tokayev Suleimenov Akhmetov Karimov Mirziyoyev Rakhimov Yusupova Abdullaev Ganbold Batsukh Dorj""",
    ),
    "pacific": (
        """Keoni Leilani Kai Malia Kekoa Nalani Makoa Kalani Tane Aroha Wiremu Hinemoa Rangi Mere Hemi Kiri Tama Ngaire Sione Mele Tevita
Ana Viliami Lupe Semisi Sela Ratu Adi Epeli Litia Apisai Vasemaca""",
        """Kealoha Kahananui Kamakawiwoole Nakamura Keawe Kalama Mahoe Kawena Ngata Tamihere Parata Rangihuna Te_Kanawa Waititi Tuiasosopo
Faleolo Taufa Fonua Vunipola Tupou Moala Latu Naivalu Bainimarama Rabuka Koroibete Qarase Leota Tuilagi Polynice""",
    ),
}
CULTURES = {name: (_split(given), _split(last)) for name, (given, last) in _TEXT.items()}

# How often a culture is drawn.
WEIGHTS = {
    "english": 9,
    "german": 3,
    "french": 3,
    "spanish": 3,
    "italian": 2,
    "indian": 3,
    "arabic": 3,
    "chinese": 2,
    "finnish": 2,
    "polish": 2,
    "hungarian": 2,
    "danish": 2,
    "czech": 2,
    "swedish": 2,
    "norwegian": 2,
    "dutch": 2,
}

# (stems, endings) from which surnames that nobody has listed are made.
SURNAME_PARTS = {
    "finnish": (
        """Kos Virta Hei Lin Kar Sal Tuo Nur Rau Koi Pel Lah Suo Han Mat Pes Hak Kii Vir Jok Ala Ylä Haa Mus Vana Sor
        Hir Kor Lep Ruo Tam Vii Pih Kuu""",
        "nen lainen läinen la lä sto ranta niemi vaara mäki järvi koski lahti saari sälä",
    ),
    "swedish": (
        """Lind Berg Sjö Åker Dal Ek Björk Gran Hag Holm Lund Mal Nor Ros Sand Sten Ström Sund Söder Väst Öst Alm Ceder
        Edel Fors Grön Hed Kling Ljung""",
        "berg ström gren kvist qvist lund holm man stedt mark dahl gård strand son sson",
    ),
    "norwegian": (
        """Arn Bjørn Dag Ein Finn Gud Hal Hav Ing Jon Kol Lei Nor Ole Rag Sig Stein Tor Ulv Vik Øy Grim""",
        "sen ssen dal stad vik rud haug land bø nes berg moen set heim by vold",
    ),
    "danish": (
        """Bent Carl Dam Ebbe Erik Jeppe Kjeld Lau Mikkel Mogen Niel Oluf Palle Ras Simon Thom Ude Vester Øster Nør Sønder
        Hede Bjerre Lind Kirke""",
        "sen gaard bjerg skov toft holm lund dal by strup kær bæk mark",
    ),
    "polish": (
        """Kowal Wiśn Zieliń Krasn Borow Dąbr Jaw Lip Sos Mal Now Olsz Piotr Rad Sad Tom Wal Zal Grab Bor Głow Czar
        Chmiel Kasprz Łas Brzez Gaw Szcz""",
        "ski ska owski owska iński ińska ewicz czyk ak ek cki cka arz owicz czak ik",
    ),
    "czech": (
        """Nov Dvoř Kuč Hor Mal Pol Such Vesel Krat Kopeck Jel Bart Čap Doub Havl Kub Lisk Mach Nav Ptáč Řeh Šim Tich Vlč
        Zeman Žák""",
        "ák áková ek ková ová ný ná ský ská ec cová ík íková al alová ka ková",
    ),
    "hungarian": (
        """Kov Sza Var Mol Né Bar Ber Csor De Er Far Gal Hal Kel Lak Mar Or Pál Rad Sim Tak Ve Zá Ger Bod Kar Fa""",
        "ács bó ga nár meth os dy vári kas gó ényi i házi falvi fi ász ai sy ffy monori",
    ),
    "romanian": (
        """Pop Ion Dumitr Const Stoic Mun Ung Mold Vas Petr Grig Flor Marin Barb Crist Nic Sim Teo Zam Lup Ciob""",
        "escu eanu an oiu aru ache iu ea ici uță aș oaia",
    ),
    "south_slavic": (
        """Petr Jov Mark Nik Stoj Mil Radov Vuk Brank Luk Dragan Kov Tom Pavl Bog Zor Mir Stan Jak Per Vidak Grg""",
        "ović ić ević ač ec inović anović čić ski ov ova ev eva ar",
    ),
    "russian": (
        """Ivan Petr Smirn Kuznets Sokol Leb Koz Nov Moroz Volk Zajts Bel Tar Gusev Kisel Tit Rom Chern Golub Krasn Les Lugov
        Mel Orekh Pakhom Ryb Sav Trof Ush Shir Yer Zim Bezrod Dubr""",
        "ov ova ev eva in ina sky skaya enko uk chuk ko ich insky yuk yan off",
    ),
    "greek": (
        """Papa Kara Geor Dimi Niko Theo Anas Chri Kons Stav Vasi Alex Pana Mich Lam Kal Mav Spyr Zaf""",
        "poulos poulou idis idou akis aki iadis ellis atos os ou opoulos eas",
    ),
    "german": (
        """Bau Stein Berg Hof Wald Feld Gold Silber Rosen Eich Linden Birk Ober Nieder Hinter Roth Weiß Schwarz Grün Kirch
        Mühl Neu Alt Königs Hirsch Wolfs Sonnen Winter Brunn Teich Mos""",
        "mann berg stein hofer meier müller bauer bach berger feld ing ner huber wald haus schmidt inger egger",
    ),
    "dutch": (
        """van_der_Ho van_den_Bo van_der_Ka van_de_Ve de_Hoo van_Wij van_Zan Boer Hof Wes Zuid Hout Brug Lange Veen""",
        "ek sch mp n g gen ten ling stra sma ma ga man huis veld kamp dijk",
    ),
    "english": (
        """Ash Black Brad Burn Clay Cran Dun East Fair Fen Green Hamp Hart Hazel Kings Lang Lock Mar Med New North Oak
        Pen Red Rock Rush Shel Stan Stock Thorn Wal West Whit Win Wood Worth Hum Bing Chat Ever""",
        "ton ley ford wood worth field well by ham den stone brook burn bury shaw ridge croft more man son land",
    ),
    "scottish": (
        "Mac Mc",
        "Allister Intosh Gillivray Laren Nair Ewan Quarrie Kinnon Lellan Phail Cormick Nulty Elroy Guire Inerney",
    ),
    "irish": (
        "O' Mc Fitz",
        "Shea Malley Hara Grady Dwyer Toole Callaghan Halloran Gerald Simons Gibbon Keogh Fadden Ginty Garry",
    ),
    "italian": (
        """Bel Cas Mar Mon Pel Ros San Tor Val Vit Zan Bor Col Fer Gal Lan Man Nic Pas Ruf Sal Tre""",
        "etti ini oni ucci elli aro iero one ato esi otti ardi ani acci ese olo igni uzzo ante",
    ),
    "spanish": (
        "Gon Fer Mar Rod Her Ál Vel San Ord Mel Ben Gut Sar Ra Es Bal Ibar Eche Agui Men Za",
        "zález nández tínez ríguez varez ázquez chez óñez éndez ítez iérrez miento mírez pinoza derrama ruren verri rre doza mora",
    ),
    "french": (
        "Beau Bon Cha Del De Du Font Gran Gros La Le Mal Mon Per Roch Sau Val Ville Bour Mar Tou",
        "mont champ lieu pierre court bois tier rand aine eau ard in ot et elle age vier ux fort geois din rnier",
    ),
    "turkish": (
        "Kara Ak Demir Öz Yıl Er Gül Taş Kök Altın Çelik Koca Uzun Sarı Tek",
        "oğlu kaya türk maz can dağ taş soy men alp han demir er kan lı gün",
    ),
    "indian": (
        "Rama Venkata Krishna Chandra Bala Subra Raja Nara Deva Vish Gopala Muthu Siva Kri Aru Bhatta Chakra",
        "krishnan murthy swamy raman nathan moorthy samy gopal charya vartan nandan kumar prasad rajan lingam pathi borty",
    ),
    "baltic_caucasian": (
        "Kaz Petr Jank Stank Vas Ter Hov Kar Gev Mkrt Sark Beri Kapa Gela Mche Tsere Kiku",
        "auskas evičius aitė ienė iņš yan ian nyan chyan shvili dze nadze lidze dlishvili teli ashvili",
    ),
    "west_african": (
        "Ade Olu Oluwa Aki Ayo Ogun Oye Nwa Chuku Onye Oko Obi Ife Eze Ama",
        "yemi bayo tunji wale seun leke sanya ola niyi chukwu ma nna nkwo kwe di ikwe ora ani dele",
    ),
    "arabic": (
        "Al- El- Abu_ Ben_ Bou",
        "Haddar Masoudi Rawi Tikriti Sabah Maktoum Balushi Hashimi Jabri Zaidi Mazrouei Khatib Turki Shehri "
        "Anzi Bakri Naimi Suwaidi Hamad Rabia Kindi Rifai",
    ),
    "japanese": (
        "Fuji Matsu Yama Naka Ishi Taka Kawa Mori Hayashi Oka Sugi Toku Kuro Shira Ao Ike Ueda Kiku Miya Hira Ogi Tate",
        "moto da yama mura kawa hara no shima naga gawa uchi saki zawa bayashi mizu hashi oka be wara gaki zaki",
    ),
    "southeast_asian": (
        "Sri Ratta Wong Chai Pra Thong Suk Phong Bun Kit Tanta Suriya Hadi Kusu Wira Pramu",
        "wattana porn sakul chai siri wong patana kul nont rung yakorn watt pong dhana jaya sono",
    ),
    "korean": ("Kim Lee Park Choi", ""),
}
# Syllables of given names that nobody has listed.
GIVEN_PARTS = {
    "any": (
        """A Be Ca Da El Fa Ga Ha I Ja Ka La Ma Na O Pa Ra Sa Ta U Va Wa Ya Za Mi Ri Li So Lu Ke Jo Ni Te Shi Chi Bri Tre
        Kai Ze Xa Dre Cla Gre Sha Ju Fre Ol Ing As Vi""",
        """lin na ra ya ria lina sha vin ton rick ler son den ro mir lav ika nka elle ette iana ella ita ine ane ore ias eus
        ard bert fried hild run lena mara dith vyn don van rell quan isha tavius onte lyn leigh anne beth a o us is""",
    ),
    "finnish": (
        "Aa Ee Il Kai Ka Lau Ma Mi O Pi Rei Sai Tai Tuu Ve Vuo Sin",
        "ro ni kka tta mo no la lja ri li ve ho ja sa ikki",
    ),
    "hungarian": (
        "Bo Csi Do Em E Gy Il Jo Ka Ke Lő Ma Nó Pi Re Sa Szi Ta Vil Zsó",
        "la lla róka ese dit öngyi dikó lán trin rinc dor ra mi noka lárd fia mea ktor",
    ),
    "slavic": (
        "Bole Brani Dobro Jaro Kazi Miro Rado Stani Vladi Vác Zdis Ljubo Svjeto Bogu Ost",
        "slav sława mir mira mił woj dan dana gost rad ka",
    ),
    "turkish": (
        "Ay Gül Nur Er Tu Se Be De Ke Il Öz Şe Yas",
        "şen han gül can ay lin ren niz mal nur gün ma sel kan tuğ",
    ),
    "african": (
        "Olu Ade Chi Ngo Ife Nne Ko A Ba Tha Si No Le Mpho Zi Wan Njo",
        "seun bola nedu zi oma ka fi ma tunde ndi pho mvula rato sa jiku roge",
    ),
    "indian": (
        "Ra Vi Su A Pra Ni De Ma Ka Sha Je Bha Chan Gau Hri",
        "jesh kram nita mit deep khil vika dhuri vitha nti ya rat dan rav thik shna",
    ),
}

# Names in other scripts: (given, surnames), for texts in these languages.
SCRIPTS = {
    "russian": (
        _split("""Иван Ольга Сергей Наталья Дмитрий Елена Алексей Татьяна Михаил Ирина Андрей Светлана Владимир Анастасия
        Николай Екатерина Павел Мария Виктор Юлия Игорь Борис Галина Юрий Людмила Олег Марина Максим Дарья Артём Анна Пётр"""),
        _split("""Иванов Иванова Смирнов Смирнова Кузнецов Кузнецова Попов Петров Петрова Соколов Соколова Михайлов Новиков Фёдоров
        Морозов Морозова Волков Волкова Лебедев Козлов Козлова Степанов Орлов Орлова Шевченко Коваленко Бондаренко Ткаченко"""),
    ),
    "greek": (
        _split("""Γιώργος Μαρία Δημήτρης Ελένη Νίκος Κατερίνα Γιάννης Βασιλική Κώστας Σοφία Παναγιώτης Αγγελική Χρήστος
        Γεωργία Μιχάλης Ιωάννα"""),
        _split("""Παπαδόπουλος Παπαδοπούλου Νικολαΐδης Γεωργίου Πέτρου Κωνσταντινίδης Καραγιάννης
        Βασιλείου Αντωνίου Μακρής Ιωαννίδης Αλεξίου"""),
    ),
}
